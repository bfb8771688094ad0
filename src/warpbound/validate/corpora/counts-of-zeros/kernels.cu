// How often each of BINS numbers occurs in words: counted in global memory, or by block in shared memory and added up at the
// end; well-known layouts, written here from their description. One word a thread.

extern "C" __global__ void in_global(const unsigned *data, unsigned *counts, unsigned n) {
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (unsigned bin = first; bin < BINS; bin += step)
        counts[bin] = 0;
    __syncthreads();
    for (unsigned i = first; i < n; i += step)
        atomicAdd(&counts[data[i]], 1);
}

extern "C" __global__ void in_shared(const unsigned *data, unsigned *counts, unsigned n) {
    __shared__ unsigned own[BINS];
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        atomicAdd(&counts[bin], own[bin]);
}
