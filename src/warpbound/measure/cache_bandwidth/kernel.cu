// Reads and writes of one working set, again and again, 16 B per thread.

#define GET(how, at) asm volatile("ld.global." how ".v4.u32 {%0, %1, %2, %3}, [%4];" \
                                  : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at)); seen ^= a ^ b ^ c ^ d;
#define PUT(at) asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(i) : "memory");

// `own`: 16-byte pieces between the working sets of two blocks; 0: all have the same set. `spread`: 1 where the blocks
// begin evenly round it, so that each block reads the lines of the next one a whole pass later; 0: all at its start.
#define SWEEP(name, access)                                                                     \
    KERNEL name(u64 *stamps, uint4 *data, u32 pieces, u32 own, u32 spread, int rounds) {        \
        uint4 *mine = data + (u64)own * blockIdx.x;                                             \
        u32 a, b, c, d, seen = 0, turn = 4 * blockDim.x;                                        \
        u32 shift = spread * (u32)((u64)blockIdx.x * (pieces / turn) / gridDim.x) * turn;       \
        u64 start = cycle();                                                                    \
        for (int r = 0; r < rounds; r++)                                                        \
            for (u32 i = threadIdx.x; i < pieces; i += 4 * blockDim.x) {                        \
                uint4 *at = mine + (i + shift < pieces ? i + shift : i + shift - pieces);        \
                access(at) access(at + blockDim.x) access(at + 2 * blockDim.x) access(at + 3 * blockDim.x) \
            }                                                                                   \
        wait_for(seen);                                                                         \
        stamp(stamps, start, cycle());                                                          \
    }
#define GET_CA(at) GET("ca", at)
#define GET_CG(at) GET("cg", at)
SWEEP(sweep_l1, GET_CA)
SWEEP(sweep_l2, GET_CG)
SWEEP(sweep_write, PUT)

// Every warp goes on by a line where the load before has come back (all hold zeros), an even part of the set from where
// it begins; the warps of an SM go round all of it together. So few loads are in flight that no rate binds.
KERNEL ring(u64 *stamps, const u32 *data, u32 lines, int hops) {
    u32 warps = blockDim.x / 32 * gridDim.x, place = threadIdx.x / 32 * gridDim.x + blockIdx.x;
    u32 line = (u64)place * lines / warps, y = 0;
    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < hops; i++) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(y) : "l"(data + line * 32ull + (threadIdx.x & 31)));
        line += 1 + y;
        line = line < lines ? line : 0;
    }
    wait_for(y);
    stamp(stamps, start, cycle());
}
