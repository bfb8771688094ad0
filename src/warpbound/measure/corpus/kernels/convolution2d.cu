// A square filter over an image with a margin; a block makes X columns and Y * EACH rows from a tile in shared memory.
#define WIDTH (2 * RADIUS + 1)
#ifndef UNROLL
#define UNROLL WIDTH  // rows of the filter
#endif

__global__ void convolution2d(const float *__restrict__ in, const float *__restrict__ filter, float *__restrict__ out,
                              int columns) {
    __shared__ float tile[Y * EACH + 2 * RADIUS][X + 2 * RADIUS], weight[WIDTH * WIDTH];
    int pitch = columns + 2 * RADIUS, left = blockIdx.x * X, top = blockIdx.y * Y * EACH;
    int mine = threadIdx.y * X + threadIdx.x;
    for (int i = mine; i < WIDTH * WIDTH; i += X * Y) weight[i] = filter[i];
    for (int y = threadIdx.y; y < Y * EACH + 2 * RADIUS; y += Y)
        for (int x = threadIdx.x; x < X + 2 * RADIUS; x += X) tile[y][x] = in[(top + y) * pitch + left + x];
    __syncthreads();
    float sum[EACH] = {};
#pragma unroll UNROLL
    for (int v = 0; v < WIDTH; v++)
#pragma unroll
        for (int u = 0; u < WIDTH; u++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] += weight[v * WIDTH + u] * tile[threadIdx.y + e * Y + v][threadIdx.x + u];
    for (int e = 0; e < EACH; e++) out[(top + threadIdx.y + e * Y) * columns + left + threadIdx.x] = sum[e];
}
