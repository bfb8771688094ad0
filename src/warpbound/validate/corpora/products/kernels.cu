// The ladder of single-precision matrix products that tutorials climb, n x n, all row-major: c = alpha a b + beta c where
// UPDATES is 1, c = a b where it is 0. Every step is a well-known layout, written here from its description: which thread
// computes what, which tile lies in shared memory, who fetches it. n is a multiple of every tile.

#ifndef UPDATES
#define UPDATES 1
#endif
#ifndef DEPTH
#define DEPTH 8
#endif

__device__ __forceinline__ void put(float *c, float sum, float alpha, float beta) {
    *c = UPDATES ? alpha * sum + beta * *c : sum;
}

// One thread per element; lanes of a warp are on a column of c, so b is one word for all and a and c lie n apart.
extern "C" __global__ void by_column(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    const unsigned row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
    put(&c[row * n + column], sum, alpha, beta);
}

// One thread per element; lanes of a warp are on a row of c.
extern "C" __global__ void by_row(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    const unsigned row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
    put(&c[row * n + column], sum, alpha, beta);
}

// Tiles of 32 x 32 in shared memory, one element a thread.
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ float left[32 * 32], right[32 * 32];
    const unsigned y = threadIdx.x / 32, x = threadIdx.x % 32;
    a += blockIdx.x * 32 * n;
    b += blockIdx.y * 32;
    c += blockIdx.x * 32 * n + blockIdx.y * 32;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 32) {
        left[y * 32 + x] = a[y * n + x];
        right[y * 32 + x] = b[y * n + x];
        __syncthreads();
        a += 32;
        b += 32 * n;
        for (int i = 0; i < 32; ++i)
            sum += left[y * 32 + i] * right[i * 32 + x];
        __syncthreads();
    }
    put(&c[y * n + x], sum, alpha, beta);
}

// A 64 x 64 tile by 512 threads; a thread has eight elements of a column, and one word of b serves all eight.
extern "C" __global__ void strips(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ float left[64 * 8], right[8 * 64];
    const unsigned x = threadIdx.x % 64, y = threadIdx.x / 64;
    a += blockIdx.y * 64 * n;
    b += blockIdx.x * 64;
    c += blockIdx.y * 64 * n + blockIdx.x * 64;
    float sums[8] = {};
    for (int k = 0; k < n; k += 8) {
        left[threadIdx.x] = a[threadIdx.x / 8 * n + threadIdx.x % 8];
        right[threadIdx.x] = b[y * n + x];
        __syncthreads();
        a += 8;
        b += 8 * n;
        for (int i = 0; i < 8; ++i) {
            const float one = right[i * 64 + x];
            for (int m = 0; m < 8; ++m)
                sums[m] += left[(y * 8 + m) * 8 + i] * one;
        }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        put(&c[(y * 8 + m) * n + x], sums[m], alpha, beta);
}

// What one thread of the tiles below computes of a step: 8 x 8 products of words that it fetched from shared memory.
__device__ __forceinline__ void outer(float (&sums)[8][8], const float (&down)[8], const float (&across)[8]) {
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int o = 0; o < 8; ++o)
            sums[m][o] += down[m] * across[o];
}

// A 128 x 128 tile by 256 threads of 8 x 8 elements, fetched word by word, DEPTH columns of a at a time.
extern "C" __global__ void __launch_bounds__(256, 1)
squares(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ float left[128 * DEPTH], right[DEPTH * 128];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    a += blockIdx.y * 128 * n;
    b += blockIdx.x * 128;
    c += blockIdx.y * 128 * n + blockIdx.x * 128;
    float sums[8][8] = {}, down[8], across[8];
    for (int k = 0; k < n; k += DEPTH) {
        for (unsigned i = threadIdx.x; i < 128 * DEPTH; i += 256)
            left[i] = a[i / DEPTH * n + i % DEPTH];
        for (unsigned i = threadIdx.x; i < 128 * DEPTH; i += 256)
            right[i] = b[i / 128 * n + i % 128];
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
        for (int i = 0; i < DEPTH; ++i) {
            for (int m = 0; m < 8; ++m)
                down[m] = left[(y * 8 + m) * DEPTH + i];
            for (int o = 0; o < 8; ++o)
                across[o] = right[i * 128 + x * 8 + o];
            outer(sums, down, across);
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int o = 0; o < 8; ++o)
            put(&c[(y * 8 + m) * n + x * 8 + o], sums[m][o], alpha, beta);
}

__device__ __forceinline__ void put_four(float *c, const float *sums, float alpha, float beta) {
    float4 four = *reinterpret_cast<float4 *>(c);
    four.x = UPDATES ? alpha * sums[0] + beta * four.x : sums[0];
    four.y = UPDATES ? alpha * sums[1] + beta * four.y : sums[1];
    four.z = UPDATES ? alpha * sums[2] + beta * four.z : sums[2];
    four.w = UPDATES ? alpha * sums[3] + beta * four.w : sums[3];
    *reinterpret_cast<float4 *>(c) = four;
}

// As squares, eight deep, fetched four words at a time; the tile of a is turned on its way into shared memory.
extern "C" __global__ void turned(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ __align__(16) float left[8 * 128], right[8 * 128];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    const unsigned row = threadIdx.x / 2, column = threadIdx.x % 2 * 4;
    a += blockIdx.y * 128 * n;
    b += blockIdx.x * 128;
    c += blockIdx.y * 128 * n + blockIdx.x * 128;
    float sums[8][8] = {}, down[8], across[8];
    for (int k = 0; k < n; k += 8) {
        const float4 four = *reinterpret_cast<const float4 *>(&a[row * n + column]);
        left[(column + 0) * 128 + row] = four.x;
        left[(column + 1) * 128 + row] = four.y;
        left[(column + 2) * 128 + row] = four.z;
        left[(column + 3) * 128 + row] = four.w;
        *reinterpret_cast<float4 *>(&right[threadIdx.x * 4]) =
            *reinterpret_cast<const float4 *>(&b[threadIdx.x / 32 * n + threadIdx.x % 32 * 4]);
        __syncthreads();
        a += 8;
        b += 8 * n;
        for (int i = 0; i < 8; ++i) {
            for (int m = 0; m < 8; ++m)
                down[m] = left[i * 128 + y * 8 + m];
            for (int o = 0; o < 8; ++o)
                across[o] = right[i * 128 + x * 8 + o];
            outer(sums, down, across);
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int o = 0; o < 8; o += 4)
            put_four(&c[(y * 8 + m) * n + x * 8 + o], &sums[m][o], alpha, beta);
}

// As squares, sixteen deep, fetched four words at a time, the tile of a kept as it is.
extern "C" __global__ void fours(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ __align__(16) float left[128 * 16], right[16 * 128];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    a += blockIdx.y * 128 * n;
    b += blockIdx.x * 128;
    c += blockIdx.y * 128 * n + blockIdx.x * 128;
    float sums[8][8] = {}, down[8], across[8];
    for (int k = 0; k < n; k += 16) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const unsigned i = threadIdx.x + part * 256;
            *reinterpret_cast<float4 *>(&left[i * 4]) =
                *reinterpret_cast<const float4 *>(&a[i / 4 * n + k + i % 4 * 4]);
            *reinterpret_cast<float4 *>(&right[i * 4]) =
                *reinterpret_cast<const float4 *>(&b[(k + i / 32) * n + i % 32 * 4]);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            for (int m = 0; m < 8; ++m)
                down[m] = left[(y * 8 + m) * 16 + i];
            for (int o = 0; o < 8; ++o)
                across[o] = right[i * 128 + x * 8 + o];
            outer(sums, down, across);
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
        for (int o = 0; o < 8; o += 4)
            put_four(&c[(y * 8 + m) * n + x * 8 + o], &sums[m][o], alpha, beta);
}
