// Loads that threads of a block share, and loads of what a thread itself has stored.

__global__ void one_row_for_all(float* to, const float* x, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += x[32 * k + threadIdx.x % 32];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void each_its_own(float* to, const float* x, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += x[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void recurrence(float* to, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 1; k < n; ++k)
        to[k * 1024 + i] = 0.5f * to[(k - 1) * 1024 + i] + x[k * 1024 + i];
}

__global__ void in_place(float* to, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; ++k)  // a neighbour of what was stored, not the same word
        to[i * n + k] = 2.0f * to[i * n + k];
}
