// One FP64 element of a square matrix per thread, in blocks of two dimensions.

extern "C" __global__ void scale(double* to, const double* x, double factor, int side) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < side && row < side) to[row * side + column] = factor * x[row * side + column];
}
