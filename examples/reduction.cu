// One partial sum per block: grid-stride loads, then shuffles inside a warp, then shared memory between warps.
// Teaches: a streaming loop with a long tail of dependent steps. DRAM bounds a large n; with few elements
// per thread the shuffles, the barrier and the block's start and end show up.

__inline__ __device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void reduction(const float* __restrict__ input, float* __restrict__ partial, int n)
{
    __shared__ float warp_sums[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += input[i];

    sum = warp_sum(sum);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0.0f;
        sum = warp_sum(sum);
        if (lane == 0)
            partial[blockIdx.x] = sum;
    }
}
