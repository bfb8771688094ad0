// y = A x for a row-major matrix in half precision, one warp per row, sums in single precision.
// Teaches: smaller data. Two halves per load instruction and half the bytes of float; DRAM still bounds,
// because every element of A is used once. columns must be even.

#include <cuda_fp16.h>

__global__ void half_gemv(const __half2* __restrict__ A, const __half2* __restrict__ x, float* __restrict__ y,
                          int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;

    int pairs = columns / 2;
    const __half2* a = A + (size_t)row * pairs;
    float sum = 0.0f;
    for (int k = lane; k < pairs; k += 32) {
        float2 left = __half22float2(a[k]);
        float2 right = __half22float2(x[k]);
        sum += left.x * right.x + left.y * right.y;
    }

    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
