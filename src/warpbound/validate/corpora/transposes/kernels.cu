// Turning an n x n matrix of floats, one tile of TILE x TILE a block, from the plainest way to wide accesses over shared
// memory; well-known layouts, written here from their description. n is a multiple of TILE.

#ifndef TILE
#define TILE 32
#endif
#ifndef ROWS
#define ROWS 32
#endif

// No shared memory: lanes write n words apart.
extern "C" __global__ void plain(const float *__restrict__ from, float *__restrict__ to, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        to[x * n + y] = from[y * n + x];
}

// Over a tile in shared memory, WIDTH words a row: 32 put a column on one bank, 33 do not.
template <int WIDTH>
__device__ __forceinline__ void one_each(const float *__restrict__ from, float *__restrict__ to, int n) {
    __shared__ float tile[32][WIDTH];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        tile[threadIdx.y][threadIdx.x] = from[y * n + x];
    __syncthreads();
    x = blockIdx.y * blockDim.x + threadIdx.x;
    y = blockIdx.x * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        to[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void tiled(const float *__restrict__ from, float *__restrict__ to, int n) {
    one_each<32>(from, to, n);
}

extern "C" __global__ void padded(const float *__restrict__ from, float *__restrict__ to, int n) {
    one_each<33>(from, to, n);
}

// As padded, with ROWS threads down the tile; each takes every ROWS-th word of its column.
extern "C" __global__ void coarse(const float *__restrict__ from, float *__restrict__ to, int n) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// As coarse, with global memory read and written WIDE words at a time.
template <typename Words, int WIDE>
__device__ __forceinline__ void wide(const float *__restrict__ from, float *__restrict__ to, int n) {
    __shared__ float tile[TILE][TILE + 1];
    const int width = n / WIDE;
    int x = blockIdx.x * (TILE / WIDE) + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    Words words;
    float *word = reinterpret_cast<float *>(&words);
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
        words = reinterpret_cast<const Words *>(from)[(y + j) * width + x];
#pragma unroll
        for (int k = 0; k < WIDE; ++k)
            tile[threadIdx.y + j][threadIdx.x * WIDE + k] = word[k];
    }
    __syncthreads();
    x = blockIdx.y * (TILE / WIDE) + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS) {
#pragma unroll
        for (int k = 0; k < WIDE; ++k)
            word[k] = tile[threadIdx.x * WIDE + k][threadIdx.y + j];
        reinterpret_cast<Words *>(to)[(y + j) * width + x] = words;
    }
}

extern "C" __global__ void twos(const float *__restrict__ from, float *__restrict__ to, int n) {
    wide<float2, 2>(from, to, n);
}

extern "C" __global__ void fours(const float *__restrict__ from, float *__restrict__ to, int n) {
    wide<float4, 4>(from, to, n);
}
