// C = A B^T in FP16 with sums in FP32, by pairs of blocks (cta_group::2): each pair multiplies 256 x 256 at a time into
// the tensor memories of its two SMs. Each block holds its 128 rows of A and half of B's columns, so B is read once
// for 256 rows. Two pairs side by side form a cluster: they share the rows of A, and each block fetches half of them for both
// (multicast).
//
// One thread of a block asks the copy engine for tiles. One thread of the even block starts the products; its neighbour in the odd
// block tells it when that block's tiles are there. STAGES tiles of A and B are in shared memory.
//
// A and B lie in memory tile by tile (128 rows x 64 columns), a tile as the tensor core reads it: four slices of 16
// columns, in each the 8 x 8 matrices of 128 bytes, two side by side. So half a tile is one run of 8 KiB.
#include <cuda_fp16.h>

#ifndef STAGES
#define STAGES 6
#endif

constexpr int TILE = 128, DEPTH = 64, SLICE = 16, COLUMNS = 256;
constexpr unsigned TILE_B = TILE * DEPTH * 2, SLICE_B = TILE * SLICE * 2;

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void set_up(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals));
}

__device__ __forceinline__ void fetch(unsigned to, const __half* from, unsigned size, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(to), "l"(from), "r"(size), "r"(barrier) : "memory");
}

__device__ __forceinline__ void fetch_for(unsigned blocks, unsigned to, const __half* from, unsigned size, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"(to), "l"(from), "r"(size), "r"(barrier), "h"((unsigned short)blocks) : "memory");
}

__device__ __forceinline__ void commit(unsigned barrier, unsigned blocks) {  // arrives there when the products before it are done
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 :: "r"(barrier), "h"((unsigned short)blocks) : "memory");
}

__device__ __forceinline__ unsigned long long descriptor(unsigned address) {  // 128 bytes to the matrix beside, 256 to that below
    return (address & 0x3ffffull) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32 | 1ull << 46;
}

__device__ __forceinline__ void multiply(unsigned d, unsigned long long a, unsigned long long b, int more) {  // 256 x 256 x 16
    constexpr unsigned shape = 1 << 4 | COLUMNS / 8 << 17 | 2 * TILE / 16 << 24;  // sums in FP32, factors in FP16
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
                 "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n}"
                 :: "r"(d), "l"(a), "l"(b), "r"(shape), "r"(more) : "memory");
}

__device__ __forceinline__ void meet_cluster() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
pair_product(const __half* a, const __half* b, float* c, int n, int k) {
    extern __shared__ __align__(1024) unsigned char stage[];
    __shared__ __align__(8) unsigned long long full[STAGES], peer_full[STAGES], empty[STAGES], done;
    __shared__ unsigned where;
    const unsigned tiles = (unsigned)__cvta_generic_to_shared(stage), is_done = (unsigned)__cvta_generic_to_shared(&done);
    const unsigned is_full = (unsigned)__cvta_generic_to_shared(full), is_empty = (unsigned)__cvta_generic_to_shared(empty);
    const unsigned peer_is_full = (unsigned)__cvta_generic_to_shared(peer_full);
    const int rounds = k / DEPTH, warp = threadIdx.x / 32, rank = blockIdx.x % 4, pair = rank / 2, half = rank % 2;
    const int row = 2 * blockIdx.y + half, column = 2 * (blockIdx.x / 4) + pair;  // of tiles of A; of 256 columns of C

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            set_up(is_full + 8 * s, 1);
            set_up(peer_is_full + 8 * s, 1);
            set_up(is_empty + 8 * s, 2);  // both pairs read what a block fetches
        }
        set_up(is_done, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 2)
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 256;"
                     :: "r"((unsigned)__cvta_generic_to_shared(&where)) : "memory");
    __syncthreads();
    const unsigned sums = where;
    meet_cluster();

    if (threadIdx.x == 0) {  // asks for tiles
        for (int r = 0; r < rounds; ++r) {
            const unsigned s = r % STAGES, barrier = is_full + 8 * s, to = tiles + s * 2 * TILE_B, part = pair * TILE_B / 2;
            wait_for(is_empty + 8 * s, (r / STAGES & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(2 * TILE_B) : "memory");
            fetch_for(5 << half, to + part, a + ((size_t)row * rounds + r) * TILE * DEPTH + part / 2, TILE_B / 2, barrier);
            fetch(to + TILE_B, b + ((size_t)(2 * column + half) * rounds + r) * TILE * DEPTH, TILE_B, barrier);
        }
    }
    if (threadIdx.x == 32) {
        for (int r = 0; r < rounds; ++r) {
            const unsigned s = r % STAGES, left = tiles + s * 2 * TILE_B, right = left + TILE_B;
            wait_for(is_full + 8 * s, r / STAGES & 1);
            if (half == 1) {  // the even block may go on
                asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}"
                             :: "r"(peer_is_full + 8 * s), "r"(rank - 1) : "memory");
            } else {
                wait_for(peer_is_full + 8 * s, r / STAGES & 1);
                for (int i = 0; i < DEPTH / SLICE; ++i)
                    multiply(sums, descriptor(left + i * SLICE_B), descriptor(right + i * SLICE_B), r + i);
                commit(is_empty + 8 * s, 15);
            }
        }
        if (half == 0) commit(is_done, 3 << 2 * pair);
    }
    __syncwarp();

    wait_for(is_done, 0);
    float* out = c + ((size_t)row * TILE + threadIdx.x) * n + column * COLUMNS;
    for (int j = 0; j < COLUMNS; j += 8) {
        float v[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                     "tcgen05.wait::ld.sync.aligned;"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
                     : "r"(sums + (warp << 21) + j));
        for (int i = 0; i < 8; i += 4) *(float4*)(out + j + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    }

    meet_cluster();
    if (warp == 2) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 256;" :: "r"(sums));
}
