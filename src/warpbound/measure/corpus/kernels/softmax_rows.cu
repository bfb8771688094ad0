// Softmax of rows, THREADS threads each: largest, sum and result in three passes over the row.
__device__ float of_block(float x, float *part, bool largest) {
    for (int distance = 16; distance; distance /= 2) {
        float other = __shfl_xor_sync(~0u, x, distance);
        x = largest ? fmaxf(x, other) : x + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < THREADS / 32; w++) x = largest ? fmaxf(x, part[w]) : x + part[w];
    return x;
}

__global__ void softmax_rows(const float *__restrict__ in, float *__restrict__ out, int columns) {
    __shared__ float part[THREADS / 32];
    const float *row = in + (size_t)blockIdx.x * columns;
    float most = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) most = fmaxf(most, row[i]);
    most = of_block(most, part, true);
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += __expf(row[i] - most);
    sum = of_block(sum, part, false);
    for (int i = threadIdx.x; i < columns; i += THREADS)
        out[(size_t)blockIdx.x * columns + i] = __expf(row[i] - most) / sum;
}
