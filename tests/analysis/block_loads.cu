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

// each warp copies the same row to shared memory: past L1 in 16-byte pieces, through L1 in 4-byte pieces
template <int BYTES> __device__ void copy_to_shared(float* to, const float* x, int n) {
    __shared__ float4 tile[32];
    unsigned at = __cvta_generic_to_shared(tile + threadIdx.x % 32);
    for (int i = 0; i < n; ++i) {
        const char* from = (const char*)(x + 128 * i) + BYTES * (threadIdx.x % 32);
        if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
        else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from));
        asm volatile("cp.async.wait_all;");
        __syncthreads();
        to[(blockIdx.x * blockDim.x + threadIdx.x)] = tile[threadIdx.x % 32].x;
    }
}
extern "C" __global__ void copied_past_l1(float* to, const float* x, int n) { copy_to_shared<16>(to, x, n); }
extern "C" __global__ void copied_through_l1(float* to, const float* x, int n) { copy_to_shared<4>(to, x, n); }
