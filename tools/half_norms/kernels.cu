// Norms and a gated activation of rows of BF16, one block for each row, which it holds in registers: pieces of eight numbers,
// dealt out to the threads in turn, as Triton lays out a row in a program. Sums by shuffles, then by shared memory.
#include <cuda_bf16.h>

constexpr int PIECES = (WIDTH / 8 + THREADS - 1) / THREADS;  // of a thread; WIDTH : the power of two from LENGTH on

__device__ __forceinline__ void unpacked(float (&to)[8], uint4 piece) {
    const __nv_bfloat162* pairs = (const __nv_bfloat162*)&piece;
    for (int i = 0; i < 4; ++i) {
        const float2 two = __bfloat1622float2(pairs[i]);
        to[2 * i] = two.x, to[2 * i + 1] = two.y;
    }
}

__device__ __forceinline__ uint4 packed(const float (&from)[8]) {
    uint4 piece;
    __nv_bfloat162* pairs = (__nv_bfloat162*)&piece;
    for (int i = 0; i < 4; ++i) pairs[i] = __floats2bfloat162_rn(from[2 * i], from[2 * i + 1]);
    return piece;
}

__device__ __forceinline__ float over_block(float value) {
    __shared__ float of_warps[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < THREADS / 32 ? of_warps[threadIdx.x % 32] : 0.0f;
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    __syncthreads();
    return value;
}

__device__ __forceinline__ void loaded(float (&x)[PIECES][8], const __nv_bfloat16* row) {
    for (int j = 0; j < PIECES; ++j) {
        const int at = (j * THREADS + threadIdx.x) * 8;
        unpacked(x[j], at < LENGTH ? *(const uint4*)(row + at) : make_uint4(0, 0, 0, 0));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
rms_norm(__nv_bfloat16* to, float* scales, const __nv_bfloat16* from, const float* factors) {
    float x[PIECES][8], sum = 0.0f;
    const size_t first = (size_t)blockIdx.x * LENGTH;
    loaded(x, from + first);
    for (int j = 0; j < PIECES; ++j)
        for (int i = 0; i < 8; ++i) sum += x[j][i] * x[j][i];
    const float scale = rsqrtf(over_block(sum) / LENGTH + 1e-6f);
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
    for (int j = 0; j < PIECES; ++j) {
        const int at = (j * THREADS + threadIdx.x) * 8;
        if (at >= LENGTH) continue;
        const float4 low = *(const float4*)(factors + at), high = *(const float4*)(factors + at + 4);
        const float w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        for (int i = 0; i < 8; ++i) x[j][i] = x[j][i] * scale * w[i];
        *(uint4*)(to + first + at) = packed(x[j]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
layer_norm(__nv_bfloat16* to, float* means, float* scales, const __nv_bfloat16* from, const __nv_bfloat16* weight,
           const __nv_bfloat16* bias) {
    float x[PIECES][8], sum = 0.0f, squares = 0.0f;
    const size_t first = (size_t)blockIdx.x * LENGTH;
    loaded(x, from + first);
    for (int j = 0; j < PIECES; ++j)
        for (int i = 0; i < 8; ++i) sum += x[j][i];
    const float mean = over_block(sum) / LENGTH;
    for (int j = 0; j < PIECES; ++j)
        for (int i = 0; i < 8; ++i) squares += (x[j][i] - mean) * (x[j][i] - mean);
    const float scale = rsqrtf(over_block(squares) / LENGTH + 1e-6f);
    if (threadIdx.x == 0) means[blockIdx.x] = mean, scales[blockIdx.x] = scale;
    for (int j = 0; j < PIECES; ++j) {
        const int at = (j * THREADS + threadIdx.x) * 8;
        if (at >= LENGTH) continue;
        float w[8], b[8];
        unpacked(w, *(const uint4*)(weight + at));
        unpacked(b, *(const uint4*)(bias + at));
        for (int i = 0; i < 8; ++i) x[j][i] = (x[j][i] - mean) * scale * w[i] + b[i];
        *(uint4*)(to + first + at) = packed(x[j]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
gated(__nv_bfloat16* to, const __nv_bfloat16* from, const __nv_bfloat16* gate) {
    uint4 from_piece[PIECES], gate_piece[PIECES];
    const size_t first = (size_t)blockIdx.x * LENGTH;
    for (int j = 0; j < PIECES; ++j) {
        const int at = (j * THREADS + threadIdx.x) * 8;
        if (at >= LENGTH) continue;
        from_piece[j] = *(const uint4*)(from + first + at);
        gate_piece[j] = *(const uint4*)(gate + first + at);
    }
    for (int j = 0; j < PIECES; ++j) {
        const int at = (j * THREADS + threadIdx.x) * 8;
        if (at >= LENGTH) continue;
        float a[8], b[8];
        unpacked(a, from_piece[j]);
        unpacked(b, gate_piece[j]);
        for (int i = 0; i < 8; ++i) a[i] = __fdividef(a[i], 1.0f + __expf(-a[i])) * b[i];
        *(uint4*)(to + first + at) = packed(a);
    }
}
