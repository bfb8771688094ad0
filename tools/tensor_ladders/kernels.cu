// Chains of products of one warp (mma.sync) in registers: CHAINS of them side by side, `rounds` times eight in a row.
#ifndef SHAPE
#define SHAPE "m16n8k16"
#define TYPES "f32.f16.f16.f32"
#define A_WORDS 4
#define B_WORDS 2
#define C_WORDS 4
#define SUFFIX ""
#define FLOATS 1
#endif
#if FLOATS
typedef float Sum;
#define KIND "+f"
#else
typedef unsigned Sum;
#define KIND "+r"
#endif
#ifndef CHAINS
#define CHAINS 4
#endif

__device__ __forceinline__ void product(Sum (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#define MMA "mma.sync.aligned." SHAPE ".row.col." TYPES SUFFIX " "
#if C_WORDS == 4 && A_WORDS == 4
    asm volatile(MMA "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : KIND(c[0]), KIND(c[1]), KIND(c[2]), KIND(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif C_WORDS == 4
    asm volatile(MMA "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : KIND(c[0]), KIND(c[1]), KIND(c[2]), KIND(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#elif A_WORDS == 4
    asm volatile(MMA "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : KIND(c[0]), KIND(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif A_WORDS == 2
    asm volatile(MMA "{%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : KIND(c[0]), KIND(c[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#else
    asm volatile(MMA "{%0,%1}, {%2}, {%3}, {%0,%1};" : KIND(c[0]), KIND(c[1]) : "r"(a[0]), "r"(b[0]));
#endif
}

extern "C" __global__ void chains(Sum *sums, int rounds) {
    unsigned a[4], b[2];
    Sum c[CHAINS][4];
    for (int i = 0; i < 4; ++i) a[i] = 0x3c003c00u + threadIdx.x + i;
    for (int i = 0; i < 2; ++i) b[i] = 0x38003800u + threadIdx.x * 2 + i;
    for (int chain = 0; chain < CHAINS; ++chain)
        for (int i = 0; i < 4; ++i) c[chain][i] = Sum(0);
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
            for (int chain = 0; chain < CHAINS; ++chain) product(c[chain], a, b);
    }
    Sum total = 0;
    for (int chain = 0; chain < CHAINS; ++chain)
        for (int i = 0; i < C_WORDS; ++i) total += c[chain][i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
