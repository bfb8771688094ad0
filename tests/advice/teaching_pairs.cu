// Kernels with one weakness each, small enough to be executed whole.

__global__ void columns(float* out, const float* in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * n + y] = 2.0f * in[x * n + y];
}

__global__ void conflicts(float* out, const float* in)
{
    __shared__ float tile[32][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * gridDim.x * 32 + column];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; ++k)
        sum += tile[threadIdx.x][(k + threadIdx.y) & 31];
    out[threadIdx.y * gridDim.x * 32 + column] = sum + tile[threadIdx.x][threadIdx.y];
}

__global__ void in_memory(float* c, float* a, float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) {
        c[i] += a[i] * b[k];
    }
}

__global__ void blocks_sum(float* out, const float* in)
{
    __shared__ float part[256];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

__global__ void column_sums(float* out, const float* in, int n, int rounds)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < rounds; ++k)
        out[x * n + y] += in[k * n * n + x * n + y];
}
