// LU factorisation, its largest part: with row and column of tiles done, each remaining 16 x 16 tile loses the
// product of its column's tile and its row's tile.
// Teaches: two shared loads for each FMA, in tiles too small to hide much.

#define SIDE 16

__global__ void lud(int n, int offset, float* __restrict__ matrix)
{
    __shared__ float row_tile[SIDE][SIDE];
    __shared__ float column_tile[SIDE][SIDE];
    int x = offset + (blockIdx.x + 1) * SIDE + threadIdx.x;
    int y = offset + (blockIdx.y + 1) * SIDE + threadIdx.y;

    row_tile[threadIdx.y][threadIdx.x] = matrix[(offset + threadIdx.y) * n + x];
    column_tile[threadIdx.y][threadIdx.x] = matrix[y * n + offset + threadIdx.x];
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < SIDE; ++k)
        sum += column_tile[threadIdx.y][k] * row_tile[k][threadIdx.x];
    matrix[y * n + x] -= sum;
}
