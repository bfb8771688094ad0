// CampProf's twelve transactions, and lines at a stride that could all fall into one channel or slice.

// All blocks touch one partition of 256 B at a time (spread 0) or eight neighbouring ones (spread 1).
#define CAMP(size, type)                                                                          \
    KERNEL camp_read_##size(type *data, u64 rows, int spread, int iterations, type none) {        \
        type sum = none;                                                                          \
        u32 per = 256 / sizeof(type);                                                             \
        for (int i = 0; i < iterations; i += 16) {                                                \
            u64 row = (blockIdx.x + (u64)i * gridDim.x) % rows;                                   \
            type *at = data + row * 8 * per + per * (blockIdx.x % 8 * spread) + (threadIdx.x + i) % per; \
            sum += __ldcg(at);                                                                    \
        }                                                                                         \
        if (sum == (type)12345) data[0] = sum;                                                    \
    }                                                                                             \
    KERNEL camp_write_##size(type *data, u64 rows, int spread, int iterations, type none) {       \
        u32 per = 256 / sizeof(type);                                                             \
        for (int i = 0; i < iterations; i += 16) {                                                \
            u64 row = (blockIdx.x + (u64)i * gridDim.x) % rows;                                   \
            __stcg(data + row * 8 * per + per * (blockIdx.x % 8 * spread) + (threadIdx.x + i) % per, none); \
        }                                                                                         \
    }
CAMP(2, unsigned short)
CAMP(4, u32)
CAMP(8, u64)

// Warp w reads line w of those that lie `stride` bytes apart, going round at `size` one line further each time.
KERNEL stride_scan(const u32 *data, u64 stride, u64 size, u32 lines, u32 *out, u32 none) {
    u32 seen = 0;
    for (u64 line = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32; line < lines; line += gridDim.x * (u64)blockDim.x / 32) {
        u64 at = line * stride;
        at = at % size + at / size * 128;
        seen ^= __ldcg(data + at / 4 + (threadIdx.x & 31));
    }
    if (seen == none) *out = seen;
}
