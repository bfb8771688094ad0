// A filter of 15 x 15 taps over a picture of 4096 x 4096 words, whose border of 7 words on each side is there: a block
// fetches what its results need into shared memory, a thread has TILE_X x TILE_Y results, a block's width and height
// apart. All loops are unrolled. A well-known layout, written here from its description.

#ifndef SIDE
#define SIDE 4096
#endif
#define TAPS 15
#define BORDER (TAPS - 1)
#define WIDE (BLOCK_X * TILE_X + BORDER)
#define HIGH (BLOCK_Y * TILE_Y + BORDER)
// Rows lie so far apart that those of a warp begin where the one before ends. Whole warps in a row need no padding.
#define PADDING (PADDED && BLOCK_X % 32 ? (32 - (WIDE - BLOCK_X) % 32) % 32 : 0)
#define EVEN (SIDE % (BLOCK_X * TILE_X) == 0 && SIDE % (BLOCK_Y * TILE_Y) == 0)

__constant__ float weights[TAPS * TAPS];

__device__ __forceinline__ float fetched(const float *word) { return READ_ONLY ? __ldg(word) : *word; }

extern "C" __global__ void filtered(float *to, const float *from) {
    __shared__ float tile[HIGH][WIDE + PADDING];
    const int x = threadIdx.x, y = threadIdx.y;
    const int left = blockIdx.x * BLOCK_X * TILE_X, top = blockIdx.y * BLOCK_Y * TILE_Y;
#pragma unroll
    for (int row = y; row < HIGH; row += BLOCK_Y) {
#pragma unroll
        for (int column = x; column < WIDE; column += BLOCK_X) {
            if (EVEN || (top + row < SIDE + BORDER && left + column < SIDE + BORDER))
                tile[row][column] = fetched(&from[(top + row) * (SIDE + BORDER) + left + column]);
        }
    }
    __syncthreads();
    float sums[TILE_Y][TILE_X] = {};
#pragma unroll
    for (int i = 0; i < TAPS; ++i) {
#pragma unroll
        for (int j = 0; j < TAPS; ++j) {
#pragma unroll
            for (int down = 0; down < TILE_Y; ++down) {
#pragma unroll
                for (int along = 0; along < TILE_X; ++along)
                    sums[down][along] += tile[y + down * BLOCK_Y + i][x + along * BLOCK_X + j] * weights[i * TAPS + j];
            }
        }
    }
#pragma unroll
    for (int down = 0; down < TILE_Y; ++down) {
#pragma unroll
        for (int along = 0; along < TILE_X; ++along) {
            const int row = top + y + down * BLOCK_Y, column = left + x + along * BLOCK_X;
            if (EVEN || (row < SIDE && column < SIDE))
                to[row * SIDE + column] = sums[down][along];
        }
    }
}
