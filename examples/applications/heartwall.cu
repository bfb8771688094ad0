// Points on the wall of a heart are found again in the next frame: each block correlates the template of one
// point with a window of the frame, each thread at one displacement.
// Teaches: a template in shared memory that all lanes read at once, and a window that lives in L1.

#define SIDE 16      // of the template
#define REACH 16     // displacements along x and along y

__global__ void heartwall(int width, int height, const float* __restrict__ frame,
                          const float* __restrict__ templates, const unsigned short* __restrict__ corner,
                          float* __restrict__ score)
{
    __shared__ float pattern[SIDE][SIDE];
    pattern[threadIdx.y][threadIdx.x] = templates[(blockIdx.x * SIDE + threadIdx.y) * SIDE + threadIdx.x];
    __syncthreads();

    int left = corner[2 * blockIdx.x] % (width - SIDE - REACH) + threadIdx.x;
    int top = corner[2 * blockIdx.x + 1] % (height - SIDE - REACH) + threadIdx.y;
    float product = 0.0f, square = 0.0f;
    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            float value = frame[(top + i) * width + left + j];
            product += value * pattern[i][j];
            square += value * value;
        }
    }
    score[(blockIdx.x * REACH + threadIdx.y) * REACH + threadIdx.x] = product * rsqrtf(square);
}
