// Thirteen kernels, each with one planted problem.

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
