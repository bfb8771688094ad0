// y = A x for a sparse matrix whose rows have equally many values, stored one below the other so that a warp's
// loads are coalesced (ELLPACK); one thread per row.
// Teaches: values and columns stream in; each gather from x is a sector of its own, from L2.

__global__ void spmv(int rows, int per_row, const float* __restrict__ value,
                     const unsigned short* __restrict__ column, const float* __restrict__ x, float* __restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    float sum = 0.0f;
    for (int k = 0; k < per_row; ++k)
        sum += value[k * rows + row] * x[column[k * rows + row]];
    y[row] = sum;
}
