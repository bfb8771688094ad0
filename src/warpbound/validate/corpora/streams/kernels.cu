// Six one-shot FP64 streams, one element per thread.

__device__ unsigned long long element() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void init(double* to, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i < n) to[i] = factor;
}

extern "C" __global__ void read(double* to, const double* x, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i >= n) return;
    double seen = x[i];
    if (seen == factor) to[i] = seen;  // never: the data hold no such number
}

extern "C" __global__ void scale(double* to, const double* x, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i < n) to[i] = factor * x[i];
}

extern "C" __global__ void triad(double* to, const double* x, const double* y, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i < n) to[i] = x[i] + factor * y[i];
}

extern "C" __global__ void stencil3(double* to, const double* x, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i < n) to[i] = factor * (x[i] + x[i + 1] + x[i + 2]);
}

extern "C" __global__ void stencil5(double* to, const double* x, double factor, unsigned long long n) {
    unsigned long long i = element();
    if (i < n) to[i] = factor * (x[i] + x[i + 1] + x[i + 2] + x[i + 3] + x[i + 4]);
}
