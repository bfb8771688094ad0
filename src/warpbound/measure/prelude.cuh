// In front of every source of the suite: clocks and the stamps of a warp.
typedef unsigned int u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void

__device__ __forceinline__ u64 cycle() {
    u64 t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
    return t;
}

__device__ __forceinline__ u64 nanosecond() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// Wait until `value` is available: loads are asynchronous. No value of the suite equals the constant.
__device__ __forceinline__ void wait_for(u32 value) {
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7ff12345; @p exit; }" ::"r"(value));
}

// Cycles since `start`, and a 0 to add to the next address: without it the clock may be read after later loads.
__device__ __forceinline__ u32 since(u64 start, u32 &nothing) {
    u64 took = cycle() - start;
    nothing = (u32)(took >> 63);
    return (u32)took;
}

// One lane of each warp writes start, end and SM.
__device__ __forceinline__ void stamp(u64 *stamps, u64 start, u64 end) {
    u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if ((threadIdx.x & 31) == 0) {
        u64 *mine = stamps + 3 * ((blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32);
        mine[0] = start;
        mine[1] = end;
        mine[2] = sm;
    }
}

// For all mechanisms: raise the clock, read it, block the stream, evict the caches.
KERNEL burn(float *out, int rounds, float a) {
    float x = a, y = a + 1.0f;
    for (int i = 0; i < rounds; i++)
        for (int j = 0; j < 64; j++) {
            x = x * a + y;
            y = y * a + x;
        }
    if (x == 12345.0f) *out = x + y;
}

KERNEL watch_clock(u64 *out, int cycles) {
    u64 t0 = nanosecond(), c0 = cycle(), c1 = c0;
    while (c1 - c0 < cycles) c1 = cycle();
    u64 t1 = nanosecond();
    out[0] = c1 - c0;
    out[1] = t1 - t0;
}

// Blocks the stream while the host enqueues the launches to be timed.
KERNEL hold(u64 *out, u64 nanoseconds) {
    u64 begun = nanosecond();
    while (nanosecond() - begun < nanoseconds) {}
    out[0] = begun;
}

// Evicts by reads: written lines would be written back to memory during the timed launch.
KERNEL evict(u32 *scratch, u64 count, u32 never) {
    u32 x, seen = 0;
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (u64)blockDim.x) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(scratch + i));
        seen |= x;
    }
    if (seen == never) *scratch = seen;
}
