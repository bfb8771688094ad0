// Every block of 256 threads reads the same ELEMENTS values again and again.

extern "C" __global__ void __launch_bounds__(256, 1) reread(TYPE* to, const TYPE* x, int zero, int rounds) {
    constexpr int EACH = ELEMENTS / 256;  // loads of a thread in a round
    TYPE sum = 0;
    x += threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        x += zero;  // the same address, which the compiler cannot know
#pragma unroll (EACH < 64 ? EACH : 32)
        for (int i = 0; i < EACH; ++i) sum += x[256 * i];
    }
    to[blockIdx.x * 256 + threadIdx.x] = sum;
}
