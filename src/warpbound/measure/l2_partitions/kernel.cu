// Which lines of L2 are near to which SM, and chains through lines of one kind.
#define LINE_WORDS 32u

// The least cycles of a load; the array holds zeros, and each address waits for the load before.
__device__ __forceinline__ u32 least_of(const u32 *at, int tries) {
    u32 y = 0, least = ~0u;
    #pragma unroll 1
    for (int k = 0; k < tries; k++) {
        u32 nothing;
        u64 start = cycle();
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(y) : "l"(at + y));
        wait_for(y);
        least = min(least, since(start, nothing));
        y += nothing;
    }
    return least;
}

// SM, then the least cycles of every line, by each block's one thread.
KERNEL map_lines(u32 *out, const u32 *array, u32 apart, int lines, int tries) {
    u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    u32 *mine = out + (u64)blockIdx.x * (lines + 1);
    mine[0] = sm;
    for (int i = 0; i < lines; i++) mine[1 + i] = least_of(array + (u64)i * apart, tries);
}

// One warp: classifies the lines at the middle between the fastest and the slowest, and links the lines of each kind.
// list: how many near and far, then the near ones, then the far ones.
KERNEL part_lines(u32 *list, u32 *cycles, u32 *array, u32 lines, int tries) {
    u32 least = ~0u, most = 0;
    for (u32 i = 0; i < lines; i++) array[i * LINE_WORDS + threadIdx.x] = 0;  // of a chain woven before
    __threadfence();
    for (u32 i = 0; i < lines; i++) {
        u32 best = least_of(array + i * LINE_WORDS + threadIdx.x, tries);
        for (int d = 16; d; d /= 2) best = max(best, __shfl_xor_sync(~0u, best, d));
        cycles[i] = best;
        least = min(least, best), most = max(most, best);
    }
    u32 cut = (least + most) / 2, found[2] = {0, 0}, first[2] = {0, 0}, last[2] = {0, 0};
    for (u32 i = 0; i < lines; i++) {
        u32 far = cycles[i] > cut;
        list[2 + far * lines + found[far]] = i;
        if (found[far]++) array[last[far] * LINE_WORDS + threadIdx.x] = FIRST + i * LINE_WORDS + threadIdx.x;
        else first[far] = i;
        last[far] = i;
    }
    for (int far = 0; far < 2; far++) {
        list[far] = found[far];
        if (found[far]) array[last[far] * LINE_WORDS + threadIdx.x] = FIRST + first[far] * LINE_WORDS + threadIdx.x;
    }
}

__device__ __forceinline__ u32 start_of(const u32 *list, u32 lines, u32 kind, u32 warp) {
    return FIRST + list[2 + kind * lines + warp * 97u % max(list[kind], 1u)] * LINE_WORDS + (threadIdx.x & 31);
}

__device__ __forceinline__ u32 probed(const u32 *base, u32 x) {
    u64 start = cycle();
    for (int i = 0; i < 2; i++) { X16(HOP("cg")) }
    wait_for(x);
    return (u32)(cycle() - start);
}

// Swaps near and far where the far lines of the list are faster from the block's own SM.
__device__ __forceinline__ u32 kind_of(const u32 *base, const u32 *list, u32 lines, u32 far) {
    __shared__ u32 swapped;
    u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x < 32) {
        u32 once = probed(base, start_of(list, lines, 0, warp));
        u32 other = probed(base, start_of(list, lines, list[1] > 0, warp));  // without far lines the same again
        if (threadIdx.x == 0) swapped = list[1] && once > other;
    }
    __syncthreads();
    return list[1] ? far ^ swapped : 0;
}

KERNEL half_of_l2_1(u64 *stamps, const u32 *array, const u32 *list, u32 lines, u32 far, int rounds) {
    const u32 *base = before(array);
    u32 kind = kind_of(base, list, lines, far);
    u32 x = start_of(list, lines, kind, (blockIdx.x * blockDim.x + threadIdx.x) / 32);
    wait_for(x);
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) { X16(HOP("cg")) }
    wait_for(x);
    stamp(stamps, start, cycle());
}

// Four chains at once.
#define HOP4 HOPPED(x, "cg") HOPPED(y, "cg") HOPPED(z, "cg") HOPPED(w, "cg")
KERNEL half_of_l2_4(u64 *stamps, const u32 *array, const u32 *list, u32 lines, u32 far, int rounds) {
    const u32 *base = before(array);
    u32 kind = kind_of(base, list, lines, far), first = 4 * ((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    u32 x = start_of(list, lines, kind, first), y = start_of(list, lines, kind, first + 1);
    u32 z = start_of(list, lines, kind, first + 2), w = start_of(list, lines, kind, first + 3);
    wait_for(x ^ y ^ z ^ w);
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) { X4(HOP4) }
    wait_for(x ^ y ^ z ^ w);
    stamp(stamps, start, cycle());
}
