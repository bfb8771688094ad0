// Barriers that count arrivals: cuda::barrier, cuda::pipeline, mbarrier as PTX.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void arrive_and_wait(const float* in, float* out, int rounds)
{
    __shared__ Barrier ready;
    __shared__ float row[256];
    if (threadIdx.x == 0) init(&ready, blockDim.x);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int r = 0; r < rounds; ++r) {
        row[threadIdx.x] = v;
        ready.arrive_and_wait();
        v += row[(threadIdx.x + 1) % blockDim.x];
        ready.arrive_and_wait();
    }
    out[i] = v;
}

extern "C" __global__ void arrive_then_wait(const int* in, int* out)
{
    __shared__ Barrier full, empty;
    __shared__ int box[32];
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    for (int r = 0; r < 4; ++r) {
        if (threadIdx.x < 32) {  // one warp brings, the other takes
            if (r) empty.arrive_and_wait();
            box[threadIdx.x] = in[32 * r + threadIdx.x];
            auto token = full.arrive();
            (void)token;
        } else {
            full.arrive_and_wait();
            out[32 * r + threadIdx.x - 32] = 3 * box[63 - threadIdx.x];
            if (r < 3) empty.arrive_and_wait();
        }
    }
}

extern "C" __global__ void arrive_and_leave(int* out)
{
    __shared__ Barrier ready;
    __shared__ int seen;
    if (threadIdx.x == 0) {
        init(&ready, blockDim.x);
        seen = 0;
    }
    __syncthreads();
    if (threadIdx.x % 3 == 0) {
        ready.arrive_and_drop();
        return;
    }
    for (int r = 0; r < 3; ++r) {
        atomicAdd(&seen, 1);
        ready.arrive_and_wait();
        out[r * blockDim.x + threadIdx.x] = seen;
        ready.arrive_and_wait();
    }
}

extern "C" __global__ void arrive_for_several(int* out)
{
    __shared__ Barrier ready;
    __shared__ int written;
    if (threadIdx.x == 0) init(&ready, 2 * blockDim.x);
    __syncthreads();
    if (threadIdx.x == 5) written = 77;
    auto token = ready.arrive(2);
    ready.wait(std::move(token));
    out[threadIdx.x] = written;
}

extern "C" __global__ void copies_in_stages(const float* in, float* out, int rounds)
{
    __shared__ alignas(16) float stage[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int r = 0; r <= rounds; ++r) {
        if (r < rounds) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[r & 1][threadIdx.x], in + 256 * r + threadIdx.x, sizeof(float), pipe);
            pipe.producer_commit();
        }
        if (r > 0) {
            pipe.consumer_wait();
            sum += r * stage[(r - 1) & 1][255 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void parities(int* out, int rounds)
{
    __shared__ unsigned long long ready;
    __shared__ int total;
    unsigned at = (unsigned)__cvta_generic_to_shared(&ready);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x));
        total = 0;
    }
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        atomicAdd(&total, 1);
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(at), "r"(r & 1)
                         : "memory");
        out[r * blockDim.x + threadIdx.x] = total >= (r + 1) * (int)blockDim.x;
    }
}
