// How often each of 256 byte values occurs: counted in global memory, or in shared memory by block and added up at the
// end, one byte or sixteen at a time; well-known layouts, written here from their description. Grids stride over the data.

extern "C" __global__ void in_global(const unsigned char *__restrict__ data, int n, int *__restrict__ counts) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[data[i]], 1);
}

__device__ __forceinline__ void clear(int *own) {
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
}

__device__ __forceinline__ void add_up(const int *own, int *counts) {
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (own[bin] > 0)
            atomicAdd(&counts[bin], own[bin]);
}

extern "C" __global__ void in_shared(const unsigned char *__restrict__ data, int n, int *__restrict__ counts) {
    __shared__ int own[256];
    clear(own);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1);
    add_up(own, counts);
}

extern "C" __global__ void sixteen_at_once(const unsigned char *__restrict__ data, int n, int *__restrict__ counts) {
    __shared__ int own[256];
    clear(own);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) {
        const uint4 words = reinterpret_cast<const uint4 *>(data)[i];
        const unsigned all[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int k = 0; k < 16; ++k)
            atomicAdd(&own[all[k / 4] >> 8 * (k % 4) & 255], 1);
    }
    add_up(own, counts);
}
