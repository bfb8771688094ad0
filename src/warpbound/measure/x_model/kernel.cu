// f(k), supply: k warps load, each from a set of its own. g(x), demand: x warps add.
#define LINE_WORDS 32u

// The entries of every warp lead round its own set, a line at a time.
KERNEL weave_own(u32 *base, u32 entries, u32 own) {
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x)
        base[i] = FIRST + i / own * own + (i % own + LINE_WORDS) % own;
}

// Once round the set before the clock starts.
KERNEL supply(u64 *stamps, const u32 *array, u32 own, int rounds) {
    const u32 *base = before(array);
    u32 x = FIRST + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * own + (threadIdx.x & 31);
    #pragma unroll 1
    for (u32 i = 0; i < own; i += LINE_WORDS) { HOP("ca") }
    wait_for(x);
    __syncthreads();
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) { X16(HOP("ca")) }
    wait_for(x);
    stamp(stamps, start, cycle());
}

KERNEL demand(u64 *stamps, int rounds, float zero) {
    u32 x = FIRST + threadIdx.x;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) { X16(X16(ADD)) }
    wait_for(x);
    stamp(stamps, start, cycle());
}
