// C = A B for square row-major matrices, tiles of A and B staged in shared memory.
// Teaches: reuse. Each element comes from L2 once per tile instead of once per product, but every FMA
// still wants two shared-memory loads: the bound moves from L1 and L2 to shared memory and the LSU.
// n must be a multiple of TILE.

#ifndef TILE
#define TILE 32
#endif

__global__ void matmul_tiled(const float* __restrict__ A, const float* __restrict__ B,
                             float* __restrict__ C, int n)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;

    for (int k0 = 0; k0 < n; k0 += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * n + k0 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + column];
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
