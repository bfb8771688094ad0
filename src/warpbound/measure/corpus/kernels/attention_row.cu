// One query of one head against all its keys: scores, softmax, weighted values. Block: THREADS; grid: queries, heads.
#define DIM 64

__global__ void attention_row(const float *__restrict__ query, const float *__restrict__ keys,
                              const float *__restrict__ values, float *__restrict__ out, int length) {
    extern __shared__ float score[];
    __shared__ float mine[DIM], part[THREADS / 32][DIM], total[THREADS / 32];
    int head = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *k = keys + (size_t)head * length * DIM, *v = values + (size_t)head * length * DIM;
    size_t place = ((size_t)head * gridDim.x + blockIdx.x) * DIM;
    for (int d = threadIdx.x; d < DIM; d += THREADS) mine[d] = query[place + d];
    __syncthreads();
    float most = -1e30f, sum = 0.0f, low = 0.0f, high = 0.0f;
    for (int j = warp; j < length; j += THREADS / 32) {
        float s = mine[lane] * k[j * DIM + lane] + mine[lane + 32] * k[j * DIM + lane + 32];
        for (int distance = 16; distance; distance /= 2) s += __shfl_xor_sync(~0u, s, distance);
        if (lane == 0) score[j] = 0.125f * s;
        most = fmaxf(most, 0.125f * s);
    }
    if (lane == 0) total[warp] = most;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) most = fmaxf(most, total[w]);
    __syncthreads();
    for (int j = warp; j < length; j += THREADS / 32) {
        float p = __expf(score[j] - most);
        sum += p;
        low += p * v[j * DIM + lane];
        high += p * v[j * DIM + lane + 32];
    }
    part[warp][lane] = low, part[warp][lane + 32] = high, total[warp] = sum;
    __syncthreads();
    for (int d = threadIdx.x; d < DIM; d += THREADS) {
        float x = 0.0f, all = 0.0f;
        for (int w = 0; w < THREADS / 32; w++) x += part[w][d], all += total[w];
        out[place + d] = x / all;
    }
}
