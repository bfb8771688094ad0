// Kernels with one planted problem each.

extern "C" __global__ void uncoalesced(float* to, const float* x, int stride, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride % n;
    to[i] = 2.0f * x[i];
}

extern "C" __global__ void conflicts(float* to, int rounds) {
    __shared__ float tile[32 * 32 * 4];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = i;
    __syncthreads();
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) sum += tile[(threadIdx.x * 32 + round) & 4095];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void low_occupancy(float* to, const float* x, int n, int rounds) {
    extern __shared__ float held[];
    held[threadIdx.x] = 0.0f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = held[threadIdx.x];
    for (int round = 0; round < rounds; ++round) sum = x[(i + round * gridDim.x * blockDim.x + (int)sum) % n] * 0.5f;
    to[i] = sum;
}

extern "C" __global__ void latency(int* to, const int* next, int rounds) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 163;
    for (int round = 0; round < rounds; ++round) at = (at * 5 + 12345 + __ldcg(next + at)) & 0x7fffff;
    to[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

extern "C" __global__ void special(float* to, int rounds) {
    float a = threadIdx.x + 1.0f, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        a = __frsqrt_rn(a); b = __sinf(b); c = __frsqrt_rn(c); d = __cosf(d);
        a = __expf(a); b = __expf(b); c = __expf(c); d = __expf(d);
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void barriers(float* to, int rounds) {
    extern __shared__ float held[];
    float mine = threadIdx.x;
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) {
        mine = mine * 1.5f + 0.5f;
        __syncthreads();
    }
    held[threadIdx.x] = mine;
    to[blockIdx.x * blockDim.x + threadIdx.x] = held[threadIdx.x];
}

extern "C" __global__ void tail(float* to, int rounds) {
    extern __shared__ float held[];
    float a = threadIdx.x, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) {
        a = a * 1.5f + 0.5f; b = b * 1.5f + 0.5f; c = c * 1.5f + 0.5f; d = d * 1.5f + 0.5f;
    }
    held[threadIdx.x] = a + b + c + d;
    to[blockIdx.x * blockDim.x + threadIdx.x] = held[threadIdx.x];
}

extern "C" __global__ void spills(float* to, const int* where, int rounds) {
    float kept[64];
    for (int i = 0; i < 64; ++i) kept[i] = i + threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        int at = where[round] & 63;
        sum += kept[at];
        kept[(at + 7) & 63] = sum;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void doubles(double* to, int rounds) {
    double a = threadIdx.x, b = a + 1.0, c = a + 2.0, d = a + 3.0;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        a = a * 1.5 + 0.5; b = b * 1.5 + 0.5; c = c * 1.5 + 0.5; d = d * 1.5 + 0.5;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void atomics(float* to, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(to, x[i]);
}

extern "C" __global__ void divergent(float* to, int rounds) {
    float a = threadIdx.x, b = 1.0f;
    for (int round = 0; round < rounds * (1 + threadIdx.x % 32); ++round) {
        a = a * 1.5f + b;
        b = b * 0.5f + a;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

extern "C" __global__ void small_grid(float* to, int rounds) {
    float a = threadIdx.x, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        a = a * 1.5f + 0.5f; b = b * 1.5f + 0.5f; c = c * 1.5f + 0.5f; d = d * 1.5f + 0.5f;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void copy(float4* to, const float4* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = x[i];
}

extern "C" __global__ void rolled(float* to, const float* x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r)  // each round adds what it has just asked for
        sum += x[r * gridDim.x * blockDim.x + i];
    to[i] = sum;
}

extern "C" __global__ void hot_bins(int* to, const int* x, int n) {
    __shared__ int bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[x[i] & 3], 1);
    __syncthreads();
    if (threadIdx.x < 256) to[blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(1024, 2) spilled(float* to, const float* x, int rounds) {
    float held[64];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 64; ++i) held[i] = x[i] + t;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int i = 0; i < 64; ++i) held[i] = held[i] * held[(i + 7) % 64] + 1.0f;
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 64; ++i) sum += held[i];
    to[t] = sum;
}

extern "C" __global__ void branches(float* to, int rounds) {
    float a = threadIdx.x, b = 1.0f;
    for (int r = 0; r < rounds; ++r) {
        switch (threadIdx.x % 4) {
            case 0: for (int k = 0; k < 24; ++k) a = a * b + 1.0f; break;
            case 1: for (int k = 0; k < 24; ++k) a = sqrtf(a + 2.0f); break;
            case 2: for (int k = 0; k < 24; ++k) b = b * a - 3.0f; break;
            default: for (int k = 0; k < 24; ++k) b = b + a * 0.5f; break;
        }
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

extern "C" __global__ void scattered_stores(float* to, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[(i % 4096) * (n / 4096) + i / 4096] = x[i];
}

extern "C" __global__ void tree(float* to, const float* x) {
    __shared__ float sums[256];
    sums[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = sums[0];
}
