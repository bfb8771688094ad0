// Operands of the statements. The compiler does not know that `stay` is 0, so that `same` and `whole` are one address.
#define SETUP                                                                                        \
    __shared__ u32 words[32];                                                                        \
    u32 lane = threadIdx.x & 31, x = stay + lane, base = (u32)__cvta_generic_to_shared(words);       \
    u32 *mine = out + blockIdx.x * blockDim.x + threadIdx.x;                                         \
    u32 same = base + stay * lane, *whole = out + stay * threadIdx.x;                                \
    if (threadIdx.x < 32) words[lane] = 0;                                                           \
    __syncthreads();
#define XOR asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(stay));
#define SUM asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(stay));
#define TWELVE(x) x x x x x x x x x x x x
