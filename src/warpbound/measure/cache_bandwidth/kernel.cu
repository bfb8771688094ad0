// Reads and writes of one working set, again and again, 16 B per thread.

#define GET(how, at) asm volatile("ld.global." how ".v4.u32 {%0, %1, %2, %3}, [%4];" \
                                  : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at)); seen ^= a ^ b ^ c ^ d;
#define PUT(at) asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(i) : "memory");

// `own`: 16-byte pieces between the working sets of two blocks; 0: all have the same set. `apart`: pieces between the
// places where two blocks begin in it, a multiple of what a block reads in one turn.
#define SWEEP(name, access)                                                                     \
    KERNEL name(u64 *stamps, uint4 *data, u32 pieces, u32 own, u32 apart, int rounds) {         \
        uint4 *mine = data + (u64)own * blockIdx.x;                                             \
        u32 a, b, c, d, seen = 0, shift = (u64)blockIdx.x * apart % pieces;                     \
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
