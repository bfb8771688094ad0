// Block b reads piece b % PIECES of the data, 512 KiB each; pieces interlock row by row of a block's width.

extern "C" __global__ void __launch_bounds__(1024) pieces(double* to, const double* x) {
    constexpr int EACH = 64;  // loads of a thread
    double sum = 0;
    const int mine = blockIdx.x % PIECES * 1024 + threadIdx.x;
#pragma unroll 16
    for (int i = 0; i < EACH; ++i) sum += x[PIECES * 1024 * i + mine];
    if (sum == 23.12) to[threadIdx.x] += sum;
}
