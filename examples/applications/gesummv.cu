// y = alpha A x + beta B x, one thread per row.
// Teaches: rows are a whole line of memory apart, so that each load of a warp touches 32 lines, of which it
// comes back for the rest: if the cache still has them. With many warps it does not.

__global__ void gesummv(int rows, int columns, float alpha, float beta, const float* __restrict__ A,
                        const float* __restrict__ B, const float* __restrict__ x, float* __restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    float of_a = 0.0f, of_b = 0.0f;
    #pragma unroll 4
    for (int j = 0; j < columns; ++j) {
        of_a += A[row * columns + j] * x[j];
        of_b += B[row * columns + j] * x[j];
    }
    y[row] = alpha * of_a + beta * of_b;
}
