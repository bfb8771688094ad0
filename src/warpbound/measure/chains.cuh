// Chains of 32-bit entries: each holds the index of the next plus FIRST, so that it is a normal float, which adding
// zero does not change. `base` points FIRST entries before the array.
#define FIRST 0x00800000u

// Entry i leads to entry i + step, around the end.
KERNEL weave(u32 *base, u32 entries, u32 step) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x) {
        u32 next = i + step;
        base[i] = FIRST + (next >= entries ? next - entries : next);
    }
}

// Entry order[i] * gap leads to entry order[i + 1] * gap.
KERNEL weave_random(u32 *base, const u32 *order, u32 count, u32 gap) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        base[order[i] * gap] = FIRST + order[i + 1 == count ? 0 : i + 1] * gap;
}

// FIRST entries before the array; hidden from the compiler, which would otherwise add the offset again at every load.
__device__ __forceinline__ const u32 *before(const u32 *array) {
    const u32 *base = array - FIRST;
    asm volatile("" : "+l"(base));
    return base;
}

// First entry of thread `me`: `apart` places after that of the previous thread, in the order of a random chain.
__device__ __forceinline__ u32 begin(u32 me, const u32 *order, u32 count, u32 gap, u32 apart) {
    u32 place = (u32)((u64)me * apart % count);
    return FIRST + (order ? order[place] : place) * gap;
}

// Bring the first entries into L1.
__device__ __forceinline__ void touch(const u32 *array, u32 entries) {
    u32 y, all = 0;
    for (u32 i = threadIdx.x; i < entries; i += blockDim.x) {
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(y) : "l"(array + i));
        all |= y;
    }
    wait_for(all);
    __syncthreads();
}

#define HOPPED(x, how) asm volatile("ld.global." how ".u32 %0, [%1];" : "=r"(x) : "l"(base + x));
#define HOP(how) HOPPED(x, how)
#define ADD asm volatile("{ .reg .f32 f; mov.b32 f, %0; add.rn.f32 f, f, %1; mov.b32 %0, f; }" : "+r"(x) : "f"(zero));
#define X4(x) x x x x
#define X16(x) X4(X4(x))
