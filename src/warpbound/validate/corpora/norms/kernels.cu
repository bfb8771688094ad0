// Layer norms: each row less its mean, over its standard deviation, times a weight, plus a bias.

#ifndef ROWS
#define ROWS 1   // rows of a block that keeps them in shared memory
#endif
#define LENGTH 768

__device__ float over_lanes(float part) {
    for (int far = 16; far > 0; far /= 2) part += __shfl_xor_sync(~0u, part, far);
    return part;
}

// One warp per row, which is read three times.
extern "C" __global__ void by_warp(float* __restrict__ to, float* __restrict__ means, float* __restrict__ scales,
                                   const float* __restrict__ from, const float* __restrict__ weight,
                                   const float* __restrict__ bias, int rows, int length) {
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const float* x = from + row * length;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < length; i += 32) sum += x[i];
    float mean = over_lanes(sum) / length;
    for (int i = lane; i < length; i += 32) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(over_lanes(squares) / length + 1e-5f);
    if (lane == 0) {
        __stcs(means + row, mean);
        __stcs(scales + row, scale);
    }
    for (int i = lane; i < length; i += 32)
        __stcs(to + row * length + i, scale * (__ldcs(x + i) - mean) * weight[i] + bias[i]);
}

// One block per row, which is read twice.
extern "C" __global__ void by_block(float* __restrict__ to, float* __restrict__ means, float* __restrict__ scales,
                                    const float* __restrict__ from, const float* __restrict__ weight,
                                    const float* __restrict__ bias, int rows, int length) {
    __shared__ float sums[32], squares[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, row = blockIdx.x;
    const float* x = from + row * length;
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        float value = x[i];
        sum += value;
        square += value * value;
    }
    sums[warp] = over_lanes(sum);
    squares[warp] = over_lanes(square);
    __syncthreads();
    float mean = over_lanes(lane < warps ? sums[lane] : 0.0f) / length;
    float scale = rsqrtf(over_lanes(lane < warps ? squares[lane] : 0.0f) / length - mean * mean + 1e-5f);
    if (threadIdx.x == 0) {
        __stcs(means + row, mean);
        __stcs(scales + row, scale);
    }
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        __stcs(to + row * length + i, scale * (__ldcs(x + i) - mean) * weight[i] + bias[i]);
}

// One warp per row; rows, weights and bias are kept in shared memory, four words at a time.
template <bool once>
__device__ void kept(float* __restrict__ to, float* __restrict__ means, float* __restrict__ scales,
                     const float* __restrict__ from, const float* __restrict__ weight, const float* __restrict__ bias,
                     int rows, int length) {
    __shared__ float4 weights[LENGTH / 4], biases[LENGTH / 4], held[ROWS][LENGTH / 4];
    int lane = threadIdx.x, own = threadIdx.y, row = blockIdx.x * ROWS + own, fours = length / 4;
    for (int i = own * 32 + lane; i < fours; i += ROWS * 32) {
        weights[i] = ((const float4*)weight)[i];
        biases[i] = ((const float4*)bias)[i];
    }
    __syncthreads();
    if (row >= rows) return;
    float sum = 0.0f, square = 0.0f;
    for (int i = lane; i < fours; i += 32) {
        float4 x = __ldcs((const float4*)(from + row * length) + i);
        sum += x.x + x.y + x.z + x.w;
        if (once) square += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
        held[own][i] = x;
    }
    float mean = over_lanes(sum) / length;
    if (!once)
        for (int i = lane; i < fours; i += 32) {
            float4 x = held[own][i];
            float a = x.x - mean, b = x.y - mean, c = x.z - mean, d = x.w - mean;
            square += a * a + b * b + c * c + d * d;
        }
    float scale = rsqrtf(over_lanes(square) / length - (once ? mean * mean : 0.0f) + 1e-5f);
    for (int i = lane; i < fours; i += 32) {
        float4 x = held[own][i], w = weights[i], b = biases[i];
        float4 y = {scale * (x.x - mean) * w.x + b.x, scale * (x.y - mean) * w.y + b.y,
                    scale * (x.z - mean) * w.z + b.z, scale * (x.w - mean) * w.w + b.w};
        __stcs((float4*)(to + row * length) + i, y);
    }
    if (lane == 0) {
        __stcs(means + row, mean);
        __stcs(scales + row, scale);
    }
}

extern "C" __global__ void kept_twice(float* to, float* means, float* scales, const float* from, const float* weight,
                                      const float* bias, int rows, int length) {
    kept<false>(to, means, scales, from, weight, bias, rows, length);
}

extern "C" __global__ void kept_once(float* to, float* means, float* scales, const float* from, const float* weight,
                                     const float* bias, int rows, int length) {
    kept<true>(to, means, scales, from, weight, bias, rows, length);
}
