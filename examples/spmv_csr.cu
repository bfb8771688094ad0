// y = A x for a sparse matrix in compressed rows (CSR), one warp per row, 16-bit column indices.
// Teaches: indirect access. Values and columns stream in coalesced; the gathers from x touch up to 32
// sectors per request and live off the caches; uneven rows leave lanes idle and warps waiting.

__global__ void spmv_csr(int rows, const int* __restrict__ row_start, const unsigned short* __restrict__ column,
                         const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;

    float sum = 0.0f;
    for (int k = row_start[row] + lane; k < row_start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];

    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
