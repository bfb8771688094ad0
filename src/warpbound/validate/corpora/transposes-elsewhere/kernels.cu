// Turning an n x n matrix of floats without shared memory, a 32 x 64 tile by 256 threads with eight elements each;
// well-known layouts, written here from their description. n is a multiple of 64.

// Lanes are on a row of `from`: whole lines are read, and each lane writes to a line of its own.
extern "C" __global__ void spread_stores(const float *__restrict__ from, float *__restrict__ to, int n) {
    const int x = blockIdx.x * 64 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
    float held[4][2];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            held[i][j] = from[(y + 8 * i) * n + x + 32 * j];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            to[(x + 32 * j) * n + y + 8 * i] = held[i][j];
}

// Lanes are on a column of `from`: each reads from a line of its own, and whole lines are written.
extern "C" __global__ void spread_loads(const float *__restrict__ from, float *__restrict__ to, int n) {
    const int x = blockIdx.x * 64 + threadIdx.x / 32, y = blockIdx.y * 32 + threadIdx.x % 32;
    float held[8];
#pragma unroll
    for (int j = 0; j < 8; ++j)
        held[j] = from[y * n + x + 8 * j];
#pragma unroll
    for (int j = 0; j < 8; ++j)
        to[(x + 8 * j) * n + y] = held[j];
}
