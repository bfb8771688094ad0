// Histogram of bytes: COPIES of the 256 bins per block in shared memory, EACH bytes per thread.
__global__ void bins(const unsigned char *__restrict__ data, unsigned *__restrict__ result) {
    __shared__ unsigned own[COPIES][257];
    for (int i = threadIdx.x; i < COPIES * 257; i += blockDim.x) own[i / 257][i % 257] = 0;
    __syncthreads();
    size_t begin = (size_t)blockIdx.x * blockDim.x * EACH + threadIdx.x;
    for (int i = 0; i < EACH; i++) atomicAdd(&own[threadIdx.x % COPIES][data[begin + (size_t)i * blockDim.x]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned sum = 0;
        for (int c = 0; c < COPIES; c++) sum += own[c][i];
        atomicAdd(&result[i], sum);
    }
}
