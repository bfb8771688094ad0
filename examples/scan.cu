// Inclusive prefix sums of each block's elements, and each block's total: the first step of a long scan.
// Teaches: a template, launched by its name expression block_scan<unsigned int, 256>. Chains of shuffles
// in a warp and two barriers in a block: latency, unless enough blocks are resident to stream.

template <typename T>
__device__ T warp_scan(T value)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        T other = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance)
            value += other;
    }
    return value;
}

template <typename T, int THREADS>
__global__ void block_scan(const T* __restrict__ in, T* __restrict__ out, T* __restrict__ totals, int n)
{
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, at most 32 of them");
    constexpr int WARPS = THREADS / 32;
    __shared__ T warp_totals[WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    T sum = warp_scan(i < n ? in[i] : T(0));
    if (lane == 31)
        warp_totals[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        T total = warp_scan(lane < WARPS ? warp_totals[lane] : T(0));
        if (lane < WARPS)
            warp_totals[lane] = total;
    }
    __syncthreads();

    if (warp > 0)
        sum += warp_totals[warp - 1];
    if (i < n)
        out[i] = sum;
    if (threadIdx.x == THREADS - 1)
        totals[blockIdx.x] = sum;
}

template __global__ void block_scan<unsigned int, 256>(const unsigned int*, unsigned int*, unsigned int*, int);
