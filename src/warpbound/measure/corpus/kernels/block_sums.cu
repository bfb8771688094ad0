// Sums of runs of THREADS * EACH numbers, one per block.
__global__ void block_sums(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float part[THREADS / 32];
    size_t begin = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; i++) sum += in[begin + i * THREADS];
    for (int distance = 16; distance; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < THREADS / 32; w++) sum += part[w];
    out[blockIdx.x] = sum;
}
