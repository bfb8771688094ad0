// Products into tensor memory (tcgen05.mma), BF16 with sums in FP32: one thread of each block, or of each pair of blocks
// (PAIR 2), starts DEPTH of them, ROWS x COLUMNS x 16, and waits for the last one, `rounds` times. A lies in shared memory
// or in tensor memory (A_IN_TENSOR_MEMORY 1), B in shared memory. All numbers are zero.
#ifndef COLUMNS
#define PAIR 1
#define ROWS 128
#define COLUMNS 128
#define DEPTH 16
#define A_IN_TENSOR_MEMORY 0
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define GROUP "cta_group::" TEXT(PAIR)

constexpr int OWN_ROWS = ROWS / PAIR, OWN_COLUMNS = COLUMNS / PAIR, STEP_B = 32;  // of a row of A or a column of B
constexpr unsigned SHAPE = 1 << 4 | 1 << 7 | 1 << 10 | COLUMNS / 8 << 17 | ROWS / 16 << 24;  // sums FP32, factors BF16

__device__ __forceinline__ unsigned long long descriptor(const unsigned char *at) {  // 128 and 256 bytes from matrix to matrix
    const unsigned address = (unsigned)__cvta_generic_to_shared(at);
    return (address & 0x3ffffull) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32 | 1ull << 46;
}

__device__ __forceinline__ void multiply(unsigned sums, unsigned a_columns, unsigned long long a, unsigned long long b) {
#if A_IN_TENSOR_MEMORY
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
                 "tcgen05.mma." GROUP ".kind::f16 [%0], [%1], %2, %3, p;\n}"
                 :: "r"(sums), "r"(a_columns), "l"(b), "r"(SHAPE) : "memory");
#else
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
                 "tcgen05.mma." GROUP ".kind::f16 [%0], %1, %2, %3, p;\n}"
                 :: "r"(sums), "l"(a), "l"(b), "r"(SHAPE) : "memory");
#endif
}

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ bool one_thread() {  // of a warp; a branch on it costs a product no loop over the lanes
    unsigned chosen;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(chosen));
    return chosen;
}

__device__ __forceinline__ void meet() {
    __syncthreads();
#if PAIR == 2
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

extern "C" __global__ void __cluster_dims__(PAIR, 1, 1) __launch_bounds__(128) products(float *sums_of_blocks, int rounds) {
    __shared__ __align__(1024) unsigned char a[OWN_ROWS * STEP_B], b[OWN_COLUMNS * STEP_B];
    __shared__ __align__(8) unsigned long long done;
    __shared__ unsigned where;
    const unsigned is_done = (unsigned)__cvta_generic_to_shared(&done);
    for (int i = threadIdx.x; i < OWN_ROWS * STEP_B; i += 128) a[i] = 0;
    for (int i = threadIdx.x; i < OWN_COLUMNS * STEP_B; i += 128) b[i] = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_done));
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    }
    if (threadIdx.x / 32 == 0)
        asm volatile("tcgen05.alloc." GROUP ".sync.aligned.shared::cta.b32 [%0], 512;"
                     :: "r"((unsigned)__cvta_generic_to_shared(&where)) : "memory");
    meet();
    const unsigned sums = where;
#pragma unroll 1
    for (int i = 0; i < 512; i += 8)
        asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};\n"
                     :: "r"(sums + (threadIdx.x / 32 << 21) + i), "r"(0));
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    meet();
    if (threadIdx.x / 32 == 0 && blockIdx.x % PAIR == 0 && one_thread()) {
        const unsigned long long left = descriptor(a), right = descriptor(b);
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int i = 0; i < DEPTH; ++i) multiply(sums, sums + 256, left, right);
            asm volatile("tcgen05.commit." GROUP ".mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(is_done) : "memory");
            wait_for(is_done, round & 1);
        }
    }
    meet();
    unsigned word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;"
                 : "=r"(word) : "r"(sums + (threadIdx.x / 32 << 21)));
    sums_of_blocks[blockIdx.x * 128 + threadIdx.x] = word;
    meet();
    if (threadIdx.x / 32 == 0)
        asm volatile("tcgen05.dealloc." GROUP ".sync.aligned.b32 %0, 512;" :: "r"(sums));
}
