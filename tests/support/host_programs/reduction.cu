// Sums integers: shared memory, atomics, a constant, a device variable, managed memory, streams, occupancy.
#include <cstdio>

__constant__ int factor[2];
__device__ unsigned total;

__global__ void sum(const int *values, int n)
{
    extern __shared__ int part[];
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += values[i] * factor[1];
    part[threadIdx.x] = mine;
    for (int step = blockDim.x / 2; step; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (!threadIdx.x)
        atomicAdd(&total, part[0]);
}

int main()
{
    const int n = 10000, threads = 128, own[2] = {5, 3};
    int *values, blocks, failures = 0;
    unsigned result, expected = 0;
    cudaDeviceProp device;
    cudaStream_t stream;
    cudaGetDeviceProperties(&device, 0);
    cudaStreamCreate(&stream);
    cudaMallocManaged(&values, n * sizeof(int));
    for (int i = 0; i < n; i++)
        values[i] = i, expected += 3 * i;
    cudaMemcpyToSymbol(factor, own, sizeof own);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, threads, threads * sizeof(int));
    for (int round = 1; round <= 2; round++) {
        sum<<<8, threads, threads * sizeof(int), stream>>>(values, n);
        cudaStreamSynchronize(stream);
        cudaMemcpyFromSymbol(&result, total, sizeof result);
        failures += result != round * expected;
    }
    printf("%s on %s with %d SMs, %d blocks each\n", failures ? "FAILED" : "passed", device.name,
           device.multiProcessorCount, blocks);
    return failures;
}
