// Loads that L1 holds, eight per round at constant offsets, with a stride between lanes or from a block of columns.

template <typename T>
__device__ void rounds_of(T* to, const T* x, int zero, int rounds) {
    T sum = 0;
    for (int round = 0; round < rounds; ++round) {
        x += zero;  // the same address, which the compiler cannot know
        sum += x[0] + x[4] + x[8] + x[12] + x[16] + x[20] + x[24] + x[28];
    }
    to[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void stride_float(float* to, const float* x, int argument, int zero, int rounds) {
    rounds_of(to, x + threadIdx.x % 64 * argument, zero, rounds);
}

extern "C" __global__ void stride_double(double* to, const double* x, int argument, int zero, int rounds) {
    rounds_of(to, x + threadIdx.x % 64 * argument, zero, rounds);
}

extern "C" __global__ void block_float(float* to, const float* x, int argument, int zero, int rounds) {
    rounds_of(to, x + 4098 + threadIdx.x % 64 + threadIdx.y % 32 * 4098, zero, rounds);
}

extern "C" __global__ void block_double(double* to, const double* x, int argument, int zero, int rounds) {
    rounds_of(to, x + 4098 + threadIdx.x % 64 + threadIdx.y % 32 * 4098, zero, rounds);
}
