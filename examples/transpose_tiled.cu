// out = transpose(in) through a tile in shared memory, padded by one column.
// Teaches: both sides coalesced. The padding puts the elements of a column into different banks;
// without it (PAD = 0) every read of the tile is a 32-way bank conflict.

#ifndef PAD
#define PAD 1
#endif
#define TILE 32
#define ROWS 8

__global__ void transpose_tiled(const float* __restrict__ in, float* __restrict__ out, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
