// Sums of an array, a block per piece of it: the ladder of tutorials, from a tree whose threads diverge to one that adds
// while it loads; well-known layouts, written here from their description. Block sizes are powers of two.

#ifndef BLOCK
#define BLOCK 512
#endif
#ifndef BATCH
#define BATCH 12   // words of a thread that takes several in a row
#endif

// No tree at all: every thread adds to the one sum, WIDE words of its own first.
template <typename Words, int WIDE>
__device__ __forceinline__ void one_by_one(float *sum, const float *from, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Words words = reinterpret_cast<const Words *>(from)[i];
    const float *word = reinterpret_cast<const float *>(&words);
    float own = word[0];
#pragma unroll
    for (int k = 1; k < WIDE; ++k)
        own += word[k];
    atomicAdd(sum, own);
}

extern "C" __global__ void atomics(float *sum, const float *from, int n) { one_by_one<float, 1>(sum, from, n); }

extern "C" __global__ void atomics_of_four(float *sum, const float *from, int n) {
    one_by_one<float4, 4>(sum, from, n);
}

// Neighbours first: every second thread, then every fourth, is left in each warp.
extern "C" __global__ void divergent(float *sum, const float *from, int n) {
    __shared__ float held[BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (i < n) {
        held[t] = from[i];
        __syncthreads();
        for (int far = 1; far < blockDim.x; far *= 2) {
            if (t % (2 * far) == 0)
                held[t] += held[t + far];
            __syncthreads();
        }
        if (t == 0)
            atomicAdd(sum, held[0]);
    }
}

// Whole warps are left, but they go through shared memory in strides.
extern "C" __global__ void strided(float *sum, const float *from, int n) {
    __shared__ float held[BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (i < n) {
        held[t] = from[i];
        __syncthreads();
        for (int far = 1; far < blockDim.x; far *= 2) {
            const int at = 2 * far * t;
            if (at < blockDim.x)
                held[at] += held[at + far];
            __syncthreads();
        }
        if (t == 0)
            atomicAdd(sum, held[0]);
    }
}

// The last 64 partial sums, by one warp without barriers.
template <typename Number>
__device__ __forceinline__ void last_warp(volatile Number *held, int t) {
    held[t] += held[t + 32];
    held[t] += held[t + 16];
    held[t] += held[t + 8];
    held[t] += held[t + 4];
    held[t] += held[t + 2];
    held[t] += held[t + 1];
}

// Halves: the upper half of the threads falls out each time. FIRST adds two words while loading, LAST is by one warp.
template <bool FIRST, bool LAST>
__device__ __forceinline__ void halves(float *sum, const float *from, int n) {
    __shared__ float held[BLOCK];
    const int i = blockIdx.x * (FIRST ? 2 : 1) * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (i < n) {
        held[t] = FIRST ? from[i] + from[i + blockDim.x] : from[i];
        __syncthreads();
        for (int far = blockDim.x / 2; far > (LAST ? 32 : 0); far /= 2) {
            if (t < far)
                held[t] += held[t + far];
            __syncthreads();
        }
        if (LAST && t < 32)
            last_warp(held, t);
        if (t == 0)
            atomicAdd(sum, held[0]);
    }
}

extern "C" __global__ void in_halves(float *sum, const float *from, int n) { halves<false, false>(sum, from, n); }

extern "C" __global__ void last_by_warp(float *sum, const float *from, int n) { halves<false, true>(sum, from, n); }

extern "C" __global__ void added_loading(float *sum, const float *from, int n) { halves<true, false>(sum, from, n); }

extern "C" __global__ void both(float *sum, const float *from, int n) { halves<true, true>(sum, from, n); }

// Integers; the tree is unrolled. The last 32 by shuffles or, with the lanes made to wait for each other, in shared memory.
template <bool SHUFFLED>
__device__ __forceinline__ void unrolled(int *sum, int own) {
    __shared__ int held[BLOCK];
    const int t = threadIdx.x;
    held[t] = own;
    __syncthreads();
#pragma unroll
    for (int far = BLOCK / 2; far > 32; far /= 2) {
        if (t < far)
            held[t] += held[t + far];
        __syncthreads();
    }
    int last = 0;
    if (SHUFFLED) {
        if (t < 32) {
            last = held[t] + held[t + 32];
#pragma unroll
            for (int far = 16; far > 0; far /= 2)
                last += __shfl_down_sync(~0u, last, far);
        }
    } else {
        volatile int *there = held;
#pragma unroll
        for (int far = 32; far > 0; far /= 2) {
            if (t < far)
                there[t] += there[t + far];
            __syncwarp();
        }
        last = t == 0 ? there[0] : 0;
    }
    if (t == 0)
        atomicAdd(sum, last);
}

// BATCH words in a row for each thread, a word or four of them at a time.
__device__ __forceinline__ int in_a_row(const int *from, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    int own = 0;
    if (i < n) {
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (i * BATCH + j < n)
                own += from[i * BATCH + j];
    }
    return own;
}

__device__ __forceinline__ int fours_in_a_row(const int *from, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    int own = 0;
    if (i < n) {
#pragma unroll
        for (int j = 0; j < BATCH / 4; ++j)
            if (i * BATCH + 4 * j < n) {
                const int4 four = reinterpret_cast<const int4 *>(from)[i * (BATCH / 4) + j];
                own += four.x + four.y + four.z + four.w;
            }
    }
    return own;
}

extern "C" __global__ void word_each(int *total, const int *words, int n) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    unrolled<false>(total, i < n ? words[i] : 0);
}

extern "C" __global__ void batch_each(int *total, const int *words, int n) {
    unrolled<false>(total, in_a_row(words, n));
}

extern "C" __global__ void batch_shuffled(int *total, const int *words, int n) {
    unrolled<true>(total, in_a_row(words, n));
}

extern "C" __global__ void fours_each(int *total, const int *words, int n) {
    unrolled<false>(total, fours_in_a_row(words, n));
}

extern "C" __global__ void fours_shuffled(int *total, const int *words, int n) {
    unrolled<true>(total, fours_in_a_row(words, n));
}
