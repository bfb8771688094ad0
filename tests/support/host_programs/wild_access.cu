// Writes behind the end of an array; calls what warpbound does not have.
#include <cstdio>

__global__ void fill(int *values, int n)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

int main()
{
    int *values;
    cudaIpcMemHandle_t handle;
    cudaMalloc(&values, 1000);
    printf("%s\n", cudaGetErrorName(cudaIpcGetMemHandle(&handle, values)));
    fill<<<1, 256>>>(values, 1);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
