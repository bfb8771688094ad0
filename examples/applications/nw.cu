// Alignment of two sequences: scores of one diagonal of 16 x 16 tiles, a block of 16 threads per tile, the diagonals
// within a tile one after the other.
// Teaches: half a warp per block and a barrier at each of 31 steps: latency, whatever the bandwidth.

#define SIDE 16

__global__ void nw(int size, int diagonal, int penalty, const signed char* __restrict__ match,
                   int* __restrict__ score)
{
    __shared__ int tile[SIDE + 1][SIDE + 1];
    __shared__ int reward[SIDE][SIDE];
    int left = blockIdx.x * SIDE, top = (diagonal - blockIdx.x) * SIDE, width = size + 1;
    int lane = threadIdx.x;

    for (int i = 0; i < SIDE; ++i)
        reward[i][lane] = match[(top + i) * size + left + lane];
    if (lane == 0)
        tile[0][0] = score[top * width + left];
    tile[0][lane + 1] = score[top * width + left + lane + 1];
    tile[lane + 1][0] = score[(top + lane + 1) * width + left];
    __syncthreads();

    for (int step = 0; step < 2 * SIDE - 1; ++step) {
        int i = step - lane;
        if (i >= 0 && i < SIDE) {
            int gap = max(tile[i][lane + 1], tile[i + 1][lane]) - penalty;
            tile[i + 1][lane + 1] = max(tile[i][lane] + reward[i][lane], gap);
        }
        __syncthreads();
    }

    for (int i = 0; i < SIDE; ++i)
        score[(top + i + 1) * width + left + lane + 1] = tile[i + 1][lane + 1];
}
