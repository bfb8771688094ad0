// One cooperative launch whose blocks wait for each other: each writes its number, then adds its neighbour's.
#include <cooperative_groups.h>
#include <cstdio>

__global__ void exchange(int *own, int *sums, int blocks) {
    own[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    sums[blockIdx.x] = own[blockIdx.x] + own[(blockIdx.x + 1) % blocks];
}

int main() {
    int blocks = 16, *own, *sums, expected = 0, total = 0;
    cudaMallocManaged(&own, blocks * sizeof(int));
    cudaMallocManaged(&sums, blocks * sizeof(int));
    void *arguments[] = {&own, &sums, &blocks};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)exchange, dim3(blocks), dim3(32), arguments, 0, 0);
    cudaDeviceSynchronize();
    for (int i = 0; i < blocks; i++) {
        expected += 2 * (i + 1);
        total += sums[i];
    }
    bool passed = error == cudaSuccess && total == expected;
    fprintf(stderr, "%s: %d of %d\n", passed ? "passed" : "failed", total, expected);
    return !passed;
}
