"""A kernel of pairs of blocks on a B200: STARTS in the even block's first thread, then what tensor memory holds."""

import numpy as np

import warpbound
from support.matrix_images import DESCRIPTOR, IMAGE_B

SOURCE = """
#include <stdint.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) kernel(const uint4 *image, uint32_t *out, uint32_t word) {
    extern __shared__ __align__(1024) uint4 shared[];
    __shared__ uint32_t where[2];
    __shared__ __align__(8) uint64_t barrier;
    unsigned base = (unsigned)__cvta_generic_to_shared(shared), at = (unsigned)__cvta_generic_to_shared(where);
    unsigned signal = (unsigned)__cvta_generic_to_shared(&barrier), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 1024; i += 128) shared[i] = image[blockIdx.x * 1024 + i];
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 32;" :: "r"(at));
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" :: "r"(at + 4));
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(signal));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    unsigned memory = where[1], rows = memory + (warp << 21);
    if (threadIdx.x == 0 && blockIdx.x % 2 == 0) {
        uint64_t a = DESCRIPTORull | (base & 0x3ffff) >> 4, b = DESCRIPTORull | ((base + 8192) & 0x3ffff) >> 4;
        STARTS
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
                     " [%0], %1;" :: "r"(signal), "h"((unsigned short)3));
    }
    unsigned done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                               : "=r"(done) : "r"(signal));
    for (int i = 0; i < COLUMNS; i++) {
        uint32_t v;
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(rows + i));
        asm volatile("tcgen05.wait::ld.sync.aligned;");
        out[(blockIdx.x * 128 + threadIdx.x) * COLUMNS + i] = v;
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (warp == 0) {
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 32;" :: "r"(where[0]));
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" :: "r"(memory));
    }
}
""".replace("DESCRIPTOR", str(DESCRIPTOR))


def run(starts, images, word=0, columns=32):
    source = SOURCE.replace("STARTS", starts).replace("COLUMNS", str(columns))
    program = warpbound.compile(source, "b200", options=["-arch=sm_100a"])
    blocks = len(images)
    launch = warpbound.launch(grid=blocks, block=128, smem=IMAGE_B, args={
        "image": np.concatenate(images).view(np.uint32), "out": np.zeros(blocks * 128 * columns, np.uint32),
        "word": np.uint32(word),
    })  # fmt: skip
    return warpbound.run(program, launch)["out"].reshape(blocks, 128, columns)
