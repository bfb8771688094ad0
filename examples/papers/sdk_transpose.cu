// out = transpose(in), tiles of 16 x 16 through shared memory, for sides that are multiples of 16.
// CampProf, section 5.3. With rows of blocks (DIAGONAL=0) all blocks that run together write one memory partition, if a
// row of the matrix is a multiple of all partitions; with DIAGONAL=1 blocks follow the diagonals of a square matrix and
// use all of them.
#ifndef DIAGONAL
#define DIAGONAL 0
#endif
#define TILE 16

extern "C" __global__ void sdk_transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x, row = blockIdx.y;
    if (DIAGONAL) {
        row = blockIdx.x;
        column = (blockIdx.x + blockIdx.y) % gridDim.x;
    }
    tile[threadIdx.y][threadIdx.x] = in[(row * TILE + threadIdx.y) * width + column * TILE + threadIdx.x];
    __syncthreads();
    out[(column * TILE + threadIdx.y) * height + row * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
