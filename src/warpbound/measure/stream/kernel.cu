// Streams of FP64 over device memory. One-shot: one element per thread; persistent: a grid-stride loop.

#define AT (blockIdx.x * (u64)blockDim.x + threadIdx.x)
#define STEP (gridDim.x * (u64)blockDim.x)
#define ARGS double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ c, double s, u64 n

#define STREAM(name, statement)                                  \
    KERNEL name(ARGS) {                                          \
        u64 i = AT;                                              \
        if (i < n) statement;                                    \
    }                                                            \
    KERNEL name##_persistent(ARGS) {                             \
        for (u64 i = AT; i < n; i += STEP) statement;            \
    }

STREAM(init, a[i] = s)
STREAM(read, if (b[i] == s) a[0] = s)
STREAM(scale, a[i] = s * b[i])
STREAM(copy, a[i] = b[i])
STREAM(triad, a[i] = b[i] + s * c[i])
STREAM(stencil3, a[i + 2] = s * (b[i + 1] + b[i + 2] + b[i + 3]))
STREAM(stencil5, a[i + 2] = s * (b[i] + b[i + 1] + b[i + 2] + b[i + 3] + b[i + 4]))

// Reads and writes in any proportion: of every eight rows of a block, `written` are written.
KERNEL mixed(ARGS, int written) {
    u64 i = AT;
    if (i >= n) return;
    if ((int)(blockIdx.x & 7) < written) a[i] = s;
    else if (b[i] == s) a[0] = s;
}

// Wide and several at once: the most that memory gives.
KERNEL read_wide(const double2 *__restrict__ b, double *a, double s, u64 n) {
    double sum = 0.0;
    u64 i = AT;
    for (; i + 3 * STEP < n; i += 4 * STEP) {
        double2 w = b[i], x = b[i + STEP], y = b[i + 2 * STEP], z = b[i + 3 * STEP];
        sum += w.x + x.y + y.x + z.y + w.y + x.x + y.y + z.x;
    }
    if (sum == s) a[0] = s;
}
