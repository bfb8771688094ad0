// y = A' (A x) in two launches, one thread per row, then one per column.
// Teaches: the same matrix read along rows, 32 lines at a time, and along columns, coalesced.

__global__ void atax_rows(int rows, int columns, const float* __restrict__ A, const float* __restrict__ x,
                          float* __restrict__ product)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    float sum = 0.0f;
    for (int j = 0; j < columns; ++j)
        sum += A[row * columns + j] * x[j];
    product[row] = sum;
}

__global__ void atax_columns(int rows, int columns, const float* __restrict__ A,
                             const float* __restrict__ product, float* __restrict__ y)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;

    float sum = 0.0f;
    for (int i = 0; i < rows; ++i)
        sum += A[i * columns + column] * product[i];
    y[column] = sum;
}
