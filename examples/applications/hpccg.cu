// y = A x for the 27-point matrix of a box, in double precision: one diagonal per neighbour, one thread per row.
// Teaches: 8 bytes of matrix for each multiplication and no reuse of them; x comes from the caches.

__global__ void hpccg(int nx, int ny, int nz, const double* __restrict__ diagonal, const double* __restrict__ x,
                      double* __restrict__ y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = nx * ny * nz;
    if (row >= rows)
        return;

    double sum = 0.0;
    for (int k = 0; k < 27; ++k) {
        int column = row + (k / 9 - 1) * nx * ny + (k / 3 % 3 - 1) * nx + k % 3 - 1;
        if (column >= 0 && column < rows)
            sum += diagonal[k * rows + row] * x[column];
    }
    y[row] = sum;
}
