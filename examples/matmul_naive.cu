// C = A B for square row-major matrices, one element of C per thread, straight from global memory.
// Teaches: no reuse but the cache's. Two loads for each FMA keep the LSU and L1 busy while the FMA
// pipes wait. Compare with matmul_tiled.

__global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B,
                             float* __restrict__ C, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;

    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}
