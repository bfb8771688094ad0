// Lane by lane the same chains as loaded_latency. The first warp of the first `timed` blocks times one load in
// BETWEEN + 1; all other warps only load.
#define LANES 32

#define SINGLE(name, how)                                                         \
    KERNEL name(u32 *out, PARAMETERS, u32 timed, int rounds) {                    \
        extern __shared__ u32 cycles[];                                           \
        const u32 *base = before(array);                                          \
        u32 x = begin(blockIdx.x * blockDim.x + threadIdx.x, order, count, gap, apart); \
        touch(array, touched);                                                    \
        wait_for(x);                                                              \
        if (blockIdx.x < timed && threadIdx.x < LANES) {                          \
            _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {                \
                u32 nothing;                                                      \
                u64 start = cycle();                                              \
                HOP(how)                                                          \
                wait_for(x);                                                      \
                cycles[i] = since(start, nothing);                                \
                x += nothing;                                                     \
                _Pragma("unroll") for (int k = 0; k < BETWEEN; k++) { HOP(how) }  \
                wait_for(x);                                                      \
            }                                                                     \
            for (int i = threadIdx.x; i < rounds; i += LANES) out[blockIdx.x * rounds + i] = cycles[i]; \
        } else {                                                                  \
            _Pragma("unroll 1") for (int i = 0; i < rounds; i++) {                \
                _Pragma("unroll") for (int k = 0; k < BETWEEN + 1; k++) { HOP(how) } \
            }                                                                     \
            if (x == 1) out[0] = x; /* never true: without it the compiler may drop the loads */ \
        }                                                                         \
    }
SINGLE(single_ca, "ca")
SINGLE(single_cg, "cg")
