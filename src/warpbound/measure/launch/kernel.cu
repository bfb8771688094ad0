// What it costs to start and end kernels and blocks, and to store.

KERNEL empty(u32 *out) {}

KERNEL store_one(u32 *out) { out[blockIdx.x * (u64)blockDim.x + threadIdx.x] = 1; }

// Start and end of one launch on the clock of the whole chip, into its own place.
KERNEL when(u64 *out, int place, int cycles) {
    u64 start = nanosecond();
    u64 begun = cycle();
    while (cycle() - begun < cycles) {}
    out[2 * place] = start;
    out[2 * place + 1] = nanosecond();
}

// When each block started and ended.
KERNEL stamped(u64 *stamps) {
    u64 start = cycle();
    stamp(stamps, start, cycle());
}

KERNEL small_scale(double *a, const double *b, double s, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = s * b[i];
}
