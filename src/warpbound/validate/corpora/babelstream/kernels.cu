// The four streams of a well-known benchmark, written here from their description: one number a thread.

extern "C" __global__ void copied(const double *a, double *c) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    c[i] = a[i];
}

extern "C" __global__ void scaled(double *b, const double *c) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    b[i] = 0.4 * c[i];
}

extern "C" __global__ void added(const double *a, const double *b, double *c) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

extern "C" __global__ void triad(double *a, const double *b, const double *c) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    a[i] = b[i] + 0.4 * c[i];
}
