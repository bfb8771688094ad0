// C = A B, square and row-major; each thread makes WORK x WORK elements of a TILE x TILE tile.
#define SIDE (TILE / WORK)  // threads along one side of the block
#ifndef UNROLL
#define UNROLL DEPTH
#endif

__global__ void gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float left[TILE][DEPTH + 1], right[DEPTH][TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE, mine = threadIdx.y * SIDE + threadIdx.x;
    float sum[WORK][WORK] = {};
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int i = mine; i < TILE * DEPTH; i += SIDE * SIDE) {
            left[i / DEPTH][i % DEPTH] = a[(row + i / DEPTH) * n + k0 + i % DEPTH];
            right[i / TILE][i % TILE] = b[(k0 + i / TILE) * n + column + i % TILE];
        }
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < DEPTH; k++)
#pragma unroll
            for (int y = 0; y < WORK; y++)
#pragma unroll
                for (int x = 0; x < WORK; x++)
                    sum[y][x] += left[threadIdx.y + y * SIDE][k] * right[k][threadIdx.x + x * SIDE];
        __syncthreads();
    }
    for (int y = 0; y < WORK; y++)
        for (int x = 0; x < WORK; x++)
            c[(row + threadIdx.y + y * SIDE) * n + column + threadIdx.x + x * SIDE] = sum[y][x];
}
