// Histogram of bytes: one table per block in shared memory, added to the result at the end.
// Teaches: shared-memory atomics. Lanes that hit the same bin are served one after the other; random
// bytes collide seldom, a constant image always. A whole program: it runs under nvcc as it stands.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                       \
        }                                                                             \
    } while (0)

constexpr int BINS = 256;

__device__ void count(unsigned int* bins, uchar4 bytes)
{
    atomicAdd(&bins[bytes.x], 1u);
    atomicAdd(&bins[bytes.y], 1u);
    atomicAdd(&bins[bytes.z], 1u);
    atomicAdd(&bins[bytes.w], 1u);
}

__global__ void histogram(const uchar4* __restrict__ data, unsigned int* __restrict__ result, int words)
{
    __shared__ unsigned int bins[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        bins[bin] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        count(bins, data[i]);
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        atomicAdd(&result[bin], bins[bin]);
}

int main()
{
    const int words = 1 << 24;
    std::vector<unsigned char> bytes(4 * words);
    std::vector<unsigned int> expected(BINS, 0), bins(BINS);
    for (unsigned char& byte : bytes) {
        byte = rand() % BINS;
        ++expected[byte];
    }

    uchar4* data;
    unsigned int* result;
    CHECK(cudaMalloc(&data, bytes.size()));
    CHECK(cudaMalloc(&result, BINS * sizeof(unsigned int)));
    CHECK(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result, 0, BINS * sizeof(unsigned int)));

    histogram<<<1056, 256>>>(data, result, words);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(bins.data(), result, BINS * sizeof(unsigned int), cudaMemcpyDeviceToHost));

    std::cout << (bins == expected ? "right" : "wrong") << std::endl;
    printf("bin 0 holds %u of %d bytes\n", bins[0], 4 * words);
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    return bins == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
