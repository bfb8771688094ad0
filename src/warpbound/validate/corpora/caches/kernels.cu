// Every block reads the same data again and again.

extern "C" __global__ void reread(double* to, const double* x, int elements, int zero, int rounds) {
    double sum = 0.0;
    for (int round = 0; round < rounds; ++round) {
        x += zero;  // the same address, which the compiler cannot know
#pragma unroll 8
        for (int i = threadIdx.x; i < elements; i += blockDim.x) sum += x[i];
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
