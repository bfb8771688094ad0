// One tile of C = A B^T in BF16 by one block: a warp asks the copy engine for boxes of A and B, a warp multiplies into
// tensor memory, four warps store C by columns. A and B have k contiguous; a box has a row of up to 128 bytes for each row of the tile.
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int BOX = DEPTH < 64 ? DEPTH : 64, BOXES = DEPTH / BOX;       // of k in a box; boxes of a stage for each factor
constexpr unsigned ROW_B = 2 * BOX, LEFT_B = ROWS * ROW_B, RIGHT_B = COLUMNS * ROW_B, STAGE_B = BOXES * (LEFT_B + RIGHT_B);
constexpr unsigned HELD = COLUMNS < 32 ? 32 : COLUMNS;                  // columns of tensor memory

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void fetch(unsigned to, const CUtensorMap& map, int column, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, 0}], [%3];"
                 :: "r"(to), "l"(&map), "r"(column), "r"(barrier) : "memory");
}

__device__ __forceinline__ unsigned long long descriptor(unsigned address) {  // eight rows, then the next eight
    constexpr unsigned long long swizzle = ROW_B == 128 ? 2 : ROW_B == 64 ? 4 : 6;
    return (address & 0x3ffffull) >> 4 | 1ull << 16 | (unsigned long long)(8 * ROW_B >> 4) << 32 | 1ull << 46 | swizzle << 61;
}

__device__ __forceinline__ void multiply(unsigned d, unsigned long long a, unsigned long long b, int more) {
    constexpr unsigned shape = 1 << 4 | 1 << 7 | 1 << 10 | COLUMNS / 8 << 17 | ROWS / 16 << 24;
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}"
                 :: "r"(d), "l"(a), "l"(b), "r"(shape), "r"(more) : "memory");
}

__device__ __forceinline__ void commit(unsigned barrier) {  // arrives there when the products before it are done
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ bool elected() {
    unsigned is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is;
}

extern "C" __global__ void __launch_bounds__(192)
product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __nv_bfloat16* c, int k) {
    extern __shared__ __align__(1024) unsigned char stage[];
    __shared__ __align__(8) unsigned long long ready[2 * STAGES], done;  // full, then empty
    __shared__ unsigned where;
    const unsigned tiles = (unsigned)__cvta_generic_to_shared(stage), is_done = (unsigned)__cvta_generic_to_shared(&done);
    const unsigned is_full = (unsigned)__cvta_generic_to_shared(ready);
    const int rounds = k / DEPTH, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    if (threadIdx.x == 0) {
        for (int s = 0; s < 2 * STAGES; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_full + 8 * s));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_done));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 1)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                     :: "r"((unsigned)__cvta_generic_to_shared(&where)), "n"(HELD) : "memory");
    __syncthreads();
    const unsigned sums = where;

    if (warp == 0 && elected()) {
        unsigned s = 0, parity = 1, barrier = is_full, to = tiles;
#pragma unroll 1
        for (int r = 0; r < rounds; ++r) {
            wait_for(barrier + 8 * STAGES, parity);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(STAGE_B) : "memory");
            for (int i = 0; i < BOXES; ++i) fetch(to + i * LEFT_B, a, r * DEPTH + i * BOX, barrier);
            for (int i = 0; i < BOXES; ++i) fetch(to + BOXES * LEFT_B + i * RIGHT_B, b, r * DEPTH + i * BOX, barrier);
            barrier += 8, to += STAGE_B;
            if (++s == STAGES) s = 0, parity ^= 1, barrier = is_full, to = tiles;
        }
    }
    if (warp == 1 && elected()) {
        const unsigned long long first = descriptor(tiles);
        unsigned s = 0, parity = 0, barrier = is_full;
        unsigned long long left = first;
#pragma unroll 1
        for (int r = 0; r < rounds; ++r) {
            wait_for(barrier, parity);
            for (int i = 0; i < DEPTH / 16; ++i) {
                const int part = i * 16 / BOX, inside_B = i * 16 % BOX * 2;
                multiply(sums, left + (part * LEFT_B + inside_B) / 16,
                         left + (BOXES * LEFT_B + part * RIGHT_B + inside_B) / 16, r + i);
            }
            commit(barrier + 8 * STAGES);
            barrier += 8, left += STAGE_B / 16;
            if (++s == STAGES) s = 0, parity ^= 1, barrier = is_full, left = first;
        }
        commit(is_done);
    }
    __syncwarp();
    if (warp >= 2) {
        wait_for(is_done, 0);
        const int part = warp % 4, row = ROWS == 64 ? part * 16 + lane : part * 32 + lane;
        for (int j = 0; j < COLUMNS; j += 8) {
            float v[8];
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                         "tcgen05.wait::ld.sync.aligned;"
                         : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
                         : "r"(sums + (part << 21) + j));
            if (ROWS == 128 || lane < 16)
                for (int i = 0; i < 8; ++i) c[(j + i) * ROWS + row] = __float2bfloat16(v[i]);
        }
    }
    __syncthreads();
    if (warp == 1) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(sums), "n"(HELD));
}
