// A warp of each block reads a matrix of 128 floats in a row through the copy engine: ROWS rows in a box, STAGES boxes under
// way. Nothing reads the boxes.
#include <cuda.h>

constexpr unsigned BOX_B = ROWS * 128 * 4;

__device__ __forceinline__ void wait_for(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra OVER;\nbra AGAIN;\nOVER:\n}" :: "r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void stream(const __grid_constant__ CUtensorMap from, int boxes) {
    extern __shared__ __align__(128) unsigned char stage[];
    __shared__ __align__(8) unsigned long long full[STAGES];
    const unsigned is_full = (unsigned)__cvta_generic_to_shared(full), tiles = (unsigned)__cvta_generic_to_shared(stage);

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(is_full + 8 * s));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    auto ask = [&](int s, int row) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(is_full + 8 * s), "r"(BOX_B) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(tiles + s * BOX_B), "l"(&from), "r"(0), "r"(row), "r"(is_full + 8 * s) : "memory");
    };
    int row = blockIdx.x * ROWS;
    const int step = gridDim.x * ROWS;
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; ++s) ask(s, row + s * step);
    row += STAGES * step;
    int s = 0;
    unsigned parity = 0;
    for (int i = STAGES; i < boxes; ++i, row += step) {
        wait_for(is_full + 8 * s, parity);
        if (threadIdx.x == 0) ask(s, row);
        if (++s == STAGES) s = 0, parity ^= 1;
    }
    for (int left = STAGES; left > 0; --left) {
        wait_for(is_full + 8 * s, parity);
        if (++s == STAGES) s = 0, parity ^= 1;
    }
}
