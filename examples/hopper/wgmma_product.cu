// C = A B^T in FP16 with sums in FP32, by warps with roles: one warp asks the copy engine for tiles, two warp groups
// multiply. STAGES tiles of A and B are in shared memory; two mbarriers each say when a stage is full and when it is empty.
//
// A and B lie in memory tile by tile (128 rows x 64 columns), a tile as wgmma reads it: four slices of 16 columns, in each
// the 8 x 8 matrices of 128 bytes, two side by side. So a tile is one run of 16 KiB, which needs no tensor map.
#include <cuda_fp16.h>

#ifndef STAGES
#define STAGES 4
#endif

constexpr int TILE = 128, DEPTH = 64, SLICE = 16;
constexpr unsigned TILE_B = TILE * DEPTH * 2, SLICE_B = TILE * SLICE * 2;

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ void fetch(unsigned to, const __half* from, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(to), "l"(from), "r"(TILE_B), "r"(barrier) : "memory");
}

__device__ __forceinline__ unsigned long long descriptor(unsigned address) {  // 128 bytes to the matrix beside, 256 to that below
    return (address & 0x3ffffull) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {  // 64 x 128 x 16
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                   "%0, %1, %2, %3, %4, %5, %6, %7, "
                   "%8, %9, %10, %11, %12, %13, %14, %15, "
                   "%16, %17, %18, %19, %20, %21, %22, %23, "
                   "%24, %25, %26, %27, %28, %29, %30, %31, "
                   "%32, %33, %34, %35, %36, %37, %38, %39, "
                   "%40, %41, %42, %43, %44, %45, %46, %47, "
                   "%48, %49, %50, %51, %52, %53, %54, %55, "
                   "%56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, 1, 1, 1, 0, 0;" :
                 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
                 "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                 "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
                 "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
                 "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                 "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
                 "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                 "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
                 "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
                 "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                 "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
                 "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(384) wgmma_product(const __half* a, const __half* b, float* c, int n, int k) {
    extern __shared__ __align__(1024) unsigned char stage[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
    const unsigned tiles = (unsigned)__cvta_generic_to_shared(stage);
    const unsigned is_full = (unsigned)__cvta_generic_to_shared(full), is_empty = (unsigned)__cvta_generic_to_shared(empty);
    const int rounds = k / DEPTH, group = threadIdx.x / 128, row = blockIdx.y, column = blockIdx.x;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(is_empty + 8 * s));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (group == 0) {  // the producer
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            for (int r = 0; r < rounds; ++r) {
                const unsigned s = r % STAGES, barrier = is_full + 8 * s, to = tiles + s * 2 * TILE_B;
                wait_for(is_empty + 8 * s, (r / STAGES & 1) ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(2 * TILE_B) : "memory");
                fetch(to, a + ((size_t)row * rounds + r) * TILE * DEPTH, barrier);
                fetch(to + TILE_B, b + ((size_t)column * rounds + r) * TILE * DEPTH, barrier);
            }
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");  // the consumers, each with half of the rows
    float d[64] = {};
    const unsigned mine = (group - 1) * (TILE / 2) * SLICE * 2;
    for (int r = 0; r < rounds; ++r) {
        const unsigned s = r % STAGES, left = tiles + s * 2 * TILE_B + mine, right = tiles + s * 2 * TILE_B + TILE_B;
        wait_for(is_full + 8 * s, r / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < DEPTH / SLICE; ++i) multiply(d, descriptor(left + i * SLICE_B), descriptor(right + i * SLICE_B));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 128 == 0) arrive(is_empty + 8 * s);
    }

    const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    float* out = c + ((size_t)row * TILE + (group - 1) * 64 + warp * 16 + lane / 4) * n + column * TILE + lane % 4 * 2;
    for (int j = 0; j < TILE / 8; ++j)
        for (int half = 0; half < 2; ++half)
            *(float2*)(out + (size_t)half * 8 * n + 8 * j) = make_float2(d[4 * j + 2 * half], d[4 * j + 2 * half + 1]);
}
