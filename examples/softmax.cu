// Softmax of each row, one block per row, the row kept in dynamic shared memory (columns * 4 bytes).
// Teaches: streaming with barriers. The row is read once; two block reductions with their barriers and
// shuffles stand between the load and the store, so that resident blocks must cover for one another.

constexpr float LOWEST = -3.402823466e38f;

__device__ float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

__device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int columns)
{
    extern __shared__ float row[];
    __shared__ float warp_results[32];
    const float* source = in + (size_t)blockIdx.x * columns;
    float* target = out + (size_t)blockIdx.x * columns;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warps = blockDim.x / 32;

    float largest = LOWEST;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = source[i];
        largest = fmaxf(largest, row[i]);
    }
    largest = warp_max(largest);
    if (lane == 0)
        warp_results[warp] = largest;
    __syncthreads();
    largest = warp_max(lane < warps ? warp_results[lane] : LOWEST);
    __syncthreads();

    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = __expf(row[i] - largest);
        sum += row[i];
    }
    sum = warp_sum(sum);
    if (lane == 0)
        warp_results[warp] = sum;
    __syncthreads();
    float scale = 1.0f / warp_sum(lane < warps ? warp_results[lane] : 0.0f);

    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        target[i] = row[i] * scale;
}
