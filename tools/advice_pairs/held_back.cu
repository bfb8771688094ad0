// Kernels with a common weakness and their better versions, of which no rule and no interval was made.

// neighbouring records 32 bytes apart, of which a thread needs one field
struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
__global__ void records(const Particle* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * in[i].mass;
}
__global__ void records_better(const float* mass, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * mass[i];
}
// constants without an f: all arithmetic in doubles
__global__ void doubles_by_accident(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int step = 0; step < 32; ++step) v = v * 0.99 + 0.01;
    out[i] = v;
}
__global__ void doubles_by_accident_better(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int step = 0; step < 32; ++step) v = v * 0.99f + 0.01f;
    out[i] = v;
}
// every thread counts in global memory
__global__ void counts(unsigned* bins, const unsigned char* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 15], 1u);
}
__global__ void counts_better(unsigned* bins, const unsigned char* in, int n) {
    __shared__ unsigned own[8][16];
    if (threadIdx.x < 128) own[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[threadIdx.x / 32][in[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = 0;
        for (int w = 0; w < 8; ++w) sum += own[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}
// bytes copied by ones
__global__ void bytes(unsigned char* to, const unsigned char* from, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}
__global__ void bytes_better(uint4* to, const uint4* from, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) to[i] = from[i];
}
// one load under way at a time
__global__ void one_at_a_time(float* out, const float* __restrict__ in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) sum += in[i + round * gridDim.x * blockDim.x];
    out[i] = sum;
}
__global__ void one_at_a_time_better(float* out, const float* __restrict__ in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) sum += in[i + round * gridDim.x * blockDim.x];
    out[i] = sum;
}
// blocks of one warp
__global__ void tiny_blocks(float* out, const float* in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) sum = 0.5f * sum + in[(i + round * 4096) % all];
    out[i] = sum;
}
// 16 columns of a row per thread, in one bank of two
__global__ void strided_tile(float* out, const float* in) {
    __shared__ float tile[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = in[i];
    __syncthreads();
    float sum = 0.0f;
    for (int column = 0; column < 16; ++column) sum += tile[threadIdx.x * 16 + column];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void strided_tile_better(float* out, const float* in) {
    __shared__ float tile[4096 + 256];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tile[i + i / 16] = in[i];
    __syncthreads();
    float sum = 0.0f;
    for (int column = 0; column < 16; ++column) sum += tile[threadIdx.x * 17 + column];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// a tree of sums in shared memory with a barrier at each level
__global__ void tree(float* out, const float* in) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        part[threadIdx.x] = in[(4 * blockIdx.x + k) * 256 + threadIdx.x];
        for (int half = 128; half; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
        sum += part[0];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void tree_better(float* out, const float* in) {
    __shared__ float part[8];
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        float v = in[(4 * blockIdx.x + k) * 256 + threadIdx.x];
        for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
        sum += v;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}
// registers held down by a bound that nobody needs
__device__ float spilling(const float* in, int i) {
    float v[48];
    for (int k = 0; k < 48; ++k) v[k] = in[i + k * 1024];
    for (int round = 0; round < 8; ++round)
        for (int k = 0; k < 48; ++k) v[k] = v[k] * 0.5f + v[(k + 7) % 48];
    float sum = 0.0f;
    for (int k = 0; k < 48; ++k) sum += v[k];
    return sum;
}
__global__ void __launch_bounds__(256, 8) bounded(float* out, const float* in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = spilling(in, i);
}
__global__ void bounded_better(float* out, const float* in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = spilling(in, i);
}
// one block more than the GPU takes at once
__global__ void overhang(float* out, int rounds, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float a = i;
        for (int round = 0; round < rounds; ++round) a = a * 1.5f + 0.5f;
        out[i] = a;
    }
}
// every row is read three times
__global__ void three_passes(float* out, const float* in, int columns) {
    const float* row = in + (long)blockIdx.x * columns;
    __shared__ float part[32];
    float most = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; ++w) most = fmaxf(most, part[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i] - most;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[(long)blockIdx.x * columns + i] = (row[i] - most) * sum;
}
__global__ void three_passes_better(float* out, const float* in, int columns) {
    const float* row = in + (long)blockIdx.x * columns;
    extern __shared__ float kept[];
    __shared__ float part[32];
    float most = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) { kept[i] = row[i]; most = fmaxf(most, kept[i]); }
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; ++w) most = fmaxf(most, part[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += kept[i] - most;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[(long)blockIdx.x * columns + i] = (kept[i] - most) * sum;
}
// a division and a remainder for each access
__global__ void divisions(float* out, const float* in, int width, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < rounds; ++round) {
        int at = (i + 4096 * round) % n;
        sum += in[at / width * width + at % width];
    }
    out[i] = sum;
}
__global__ void divisions_better(float* out, const float* in, int width, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < rounds; ++round) sum += in[(i + 4096 * round) & (n - 1)];
    out[i] = sum;
}
// exact exponentials
__global__ void exact(float* out, const float* in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int round = 0; round < rounds; ++round) v = expf(-v) * sinf(v);
    out[i] = v;
}
__global__ void exact_better(float* out, const float* in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int round = 0; round < rounds; ++round) v = __expf(-v) * __sinf(v);
    out[i] = v;
}
// both sides of a branch in each warp
__global__ void both_sides(float* out, const float* in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    if (threadIdx.x % 2) { for (int round = 0; round < rounds; ++round) v = v * 1.01f + 0.3f; }
    else { for (int round = 0; round < rounds; ++round) v = sqrtf(v + 0.7f); }
    out[i] = v;
}
__global__ void both_sides_better(float* out, const float* in, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    if (threadIdx.x / 32 % 2) { for (int round = 0; round < rounds; ++round) v = v * 1.01f + 0.3f; }
    else { for (int round = 0; round < rounds; ++round) v = sqrtf(v + 0.7f); }
    out[i] = v;
}
