// The kernels of tests/whatif/teaching_kernels.cu without their planted weakness.

extern "C" __global__ void uncoalesced(float* to, const float* x, int stride, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
    to[i] = 2.0f * x[i];
}
extern "C" __global__ void conflicts(float* to, int rounds) {
    __shared__ float tile[33 * 32 * 4];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i + i / 32] = i;
    __syncthreads();
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) { int i = (threadIdx.x * 33 + round) & 4095; sum += tile[i]; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void barriers(float* to, int rounds) {
    extern __shared__ float held[];
    float mine = threadIdx.x;
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) mine = mine * 1.5f + 0.5f;
    held[threadIdx.x] = mine;
    to[blockIdx.x * blockDim.x + threadIdx.x] = held[threadIdx.x];
}
extern "C" __global__ void spills(float* to, const int* where, int rounds) {
    extern __shared__ float kept[];
    for (int i = 0; i < 64; ++i) kept[i * 256 + threadIdx.x] = i + threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        int at = where[round] & 63;
        sum += kept[at * 256 + threadIdx.x];
        kept[((at + 7) & 63) * 256 + threadIdx.x] = sum;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void atomics(float* to, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
    __shared__ float part[8];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(to, part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7]);
}
extern "C" __global__ void divergent(float* to, int rounds) {
    float a = threadIdx.x, b = 1.0f;
    int own = 1 + (blockIdx.x * blockDim.x + threadIdx.x) / 32 % 32;
    for (int round = 0; round < rounds * own; ++round) { a = a * 1.5f + b; b = b * 0.5f + a; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}
extern "C" __global__ void small_grid(float* to, int rounds) {
    float a = threadIdx.x, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) { a = a * 1.5f + 0.5f; b = b * 1.5f + 0.5f; c = c * 1.5f + 0.5f; d = d * 1.5f + 0.5f; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void special(float* to, int rounds) {
    float a = threadIdx.x + 1.0f, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        a = __frsqrt_rn(a); b = __sinf(b); c = __frsqrt_rn(c); d = __cosf(d);
        a = 1.0f + a * (1.0f + a * (0.5f + a * 0.1667f)); b = 1.0f + b * (1.0f + b * (0.5f + b * 0.1667f));
        c = 1.0f + c * (1.0f + c * (0.5f + c * 0.1667f)); d = 1.0f + d * (1.0f + d * (0.5f + d * 0.1667f));
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void doubles(double* to, int rounds) {
    float a = threadIdx.x, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) { a = a * 1.5f + 0.5f; b = b * 1.5f + 0.5f; c = c * 1.5f + 0.5f; d = d * 1.5f + 0.5f; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void low_occupancy(float* to, const float* x, int n, int rounds) {
    extern __shared__ float held[];
    held[threadIdx.x] = 0.0f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = held[threadIdx.x];
    for (int round = 0; round < rounds; ++round) sum = x[(i + round * gridDim.x * blockDim.x + (int)sum) % n] * 0.5f;
    to[i] = sum;
}
