// Loops that store to global memory in each round.

__global__ void running_sum(float* c, float* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k)
        c[i] += a[k * 256 + i];
}

__global__ void another_place_each_round(float* c, float* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k)
        c[k * 256 + i] = 2.0f * a[k * 256 + i];
}

__global__ void read_by_other_warps(float* c, float* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k)
        c[i] = a[k] + c[(i + 32) % 256];
}
