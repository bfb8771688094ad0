// Chains of 32-bit entries: each holds the number of the next, moved up so that it is a normal float, which
// adding zero leaves alone. `base` points that much before the array.
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

#define HOP(how) asm volatile("ld.global." how ".u32 %0, [%1];" : "=r"(x) : "l"(base + x));
#define ADD asm volatile("{ .reg .f32 f; mov.b32 f, %0; add.rn.f32 f, f, %1; mov.b32 %0, f; }" : "+r"(x) : "f"(zero));
#define X4(x) x x x x
#define X16(x) X4(X4(x))
