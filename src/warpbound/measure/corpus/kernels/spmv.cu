// y = A x for compressed rows, LANES neighbouring threads for each row.
__global__ void spmv(int rows, const int *__restrict__ start, const int *__restrict__ column,
                     const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < rows)
        for (int k = start[row] + lane; k < start[row + 1]; k += LANES) sum += value[k] * x[column[k]];
    for (int distance = LANES / 2; distance; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance, LANES);
    if (row < rows && lane == 0) y[row] = sum;
}
