// C = A B^T in FP16 with sums in FP32 by a persistent grid: each block takes tiles of 64 x 256 in turn, its two warp groups take
// them alternately, a third group asks for copies. The groups pass on the turn to multiply: behind a group's last product, so
// that it stores while the other multiplies (ping-pong), or with LATE behind its stores.
//
// A and B lie in memory tile by tile as wgmma reads them, as in examples/hopper/wgmma_product.cu; tiles of A have 64 rows, of B 256.
#include <cuda_fp16.h>

constexpr int STAGES = 4, ROWS = 64, COLUMNS = 256, DEPTH = 64, SLICE = 16, GROUP = 128;
constexpr unsigned LEFT_B = ROWS * DEPTH * 2, RIGHT_B = COLUMNS * DEPTH * 2, STAGE_B = LEFT_B + RIGHT_B;

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ void fetch(unsigned to, const __half* from, unsigned size, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(to), "l"(from), "r"(size), "r"(barrier) : "memory");
}

__device__ __forceinline__ unsigned long long descriptor(unsigned address) {  // 128 bytes to the matrix beside, 256 to that below
    return (address & 0x3ffffull) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {  // 64 x 256 x 16
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
                   "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                   "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                   "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                   "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                   "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                   "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                   "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                   "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, 1, 1, 1, 0, 0;" :
                 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                 "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                 "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                 "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
                 "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
                 "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
                 "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
                 "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
                 "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
                 "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
                 "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
                 "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
                 : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(3 * GROUP)
product(const __half* a, const __half* b, float* c, int n, int k, int tiles) {
    extern __shared__ __align__(1024) unsigned char stage[];
    __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES], turn[2];
    const unsigned first = (unsigned)__cvta_generic_to_shared(stage), is_turn = (unsigned)__cvta_generic_to_shared(turn);
    const unsigned is_full = (unsigned)__cvta_generic_to_shared(full), is_empty = (unsigned)__cvta_generic_to_shared(empty);
    const int rounds = k / DEPTH, group = threadIdx.x / GROUP - 1, across = n / COLUMNS;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_empty + 8 * s));
        }
        for (int g = 0; g < 2; ++g) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_turn + 8 * g));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (group < 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            int r = 0;
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                const int row = tile / across, column = tile % across;
                for (int part = 0; part < rounds; ++part, ++r) {
                    const unsigned s = r % STAGES, barrier = is_full + 8 * s, to = first + s * STAGE_B;
                    wait_for(is_empty + 8 * s, (r / STAGES & 1) ^ 1);
                    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(STAGE_B) : "memory");
                    fetch(to, a + ((size_t)row * rounds + part) * ROWS * DEPTH, LEFT_B, barrier);
                    fetch(to + LEFT_B, b + ((size_t)column * rounds + part) * COLUMNS * DEPTH, RIGHT_B, barrier);
                }
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

    int mine = 0;
    for (int tile = blockIdx.x + group * gridDim.x; tile < tiles; tile += 2 * gridDim.x, ++mine) {
        float d[128] = {};
        wait_for(is_turn + 8 * group, group ? mine & 1 : (mine & 1) ^ 1);
        for (int part = 0; part < rounds; ++part) {
            const int r = (2 * mine + group) * rounds + part;
            const unsigned s = r % STAGES, left = first + s * STAGE_B, right = left + LEFT_B;
            wait_for(is_full + 8 * s, r / STAGES & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int i = 0; i < DEPTH / SLICE; ++i)
                multiply(d, descriptor(left + i * ROWS * SLICE * 2), descriptor(right + i * COLUMNS * SLICE * 2));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (threadIdx.x % GROUP == 0) arrive(is_empty + 8 * s);
        }
#if !LATE
        if (threadIdx.x % GROUP == 0) arrive(is_turn + 8 * (group ^ 1));
#endif
        const int warp = threadIdx.x % GROUP / 32, lane = threadIdx.x % 32, row = tile / across, column = tile % across;
        float* out = c + ((size_t)row * ROWS + warp * 16 + lane / 4) * n + column * COLUMNS + lane % 4 * 2;
        for (int j = 0; j < COLUMNS / 8; ++j)
            for (int half = 0; half < 2; ++half)
                *(float2*)(out + (size_t)half * 8 * n + 8 * j) = make_float2(d[4 * j + 2 * half], d[4 * j + 2 * half + 1]);
#if LATE
        asm volatile("bar.sync %0, 128;" :: "r"(group + 1) : "memory");
        if (threadIdx.x % GROUP == 0) arrive(is_turn + 8 * (group ^ 1));
#endif
    }
}
