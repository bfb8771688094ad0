// Chains of dependent loads by one thread: each entry holds the address of the next.

// Entry order[i] of `base` points to entry order[i + 1]: one cycle through all of them.
KERNEL link(u64 base, const u32 *order, u32 count, u32 stride) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        u32 next = i + 1 == count ? 0 : i + 1;
        *(u64 *)(base + (u64)order[i] * stride) = base + (u64)order[next] * stride;
    }
}

#define LOAD(how) asm volatile("ld.global." how ".u64 %0, [%0];" : "+l"(p));
#define FOUR(x) x x x x

// Cycles of hops * 32 loads of a chain that L1 may hold; once round before the clock starts.
#define CHASE(name, how)                                   \
    KERNEL name(u32 *out, u64 base, int warm, int hops) {  \
        u64 p = base;                                      \
        for (int i = 0; i < warm; i++) LOAD(how)           \
        wait_for((u32)p);                                  \
        u64 start = cycle();                               \
        _Pragma("unroll 1") for (int i = 0; i < hops; i++) \
            { FOUR(FOUR(LOAD(how) LOAD(how))) }            \
        wait_for((u32)p);                                  \
        out[0] = (u32)(cycle() - start);                   \
        out[1] = (u32)(p - base);                          \
    }
CHASE(chase_l1, "ca")
CHASE(chase_l2, "cg")

// Cycles of every single load, kept in shared memory until the end.
KERNEL chase_each(u32 *out, u64 base, int warm, int count) {
    extern __shared__ u32 cycles[];
    u64 p = base;
    for (int i = 0; i < warm; i++) LOAD("cg")
    wait_for((u32)p);
    #pragma unroll 1
    for (int i = 0; i < count; i++) {
        u32 nothing;
        u64 start = cycle();
        LOAD("cg")
        wait_for((u32)p);
        cycles[i] = since(start, nothing);
        p += nothing;
    }
    for (int i = 0; i < count; i++) out[blockIdx.x * count + i] = cycles[i];
}
