// One Jacobi step of the 2D Laplace equation: each inner point becomes the mean of its four neighbours
// and itself, weighted.
// Teaches: reuse between neighbours. Five loads per point, but DRAM sees each value about once: the
// caches decide how close to one load and one store per point it comes.

__global__ void stencil5(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                         float centre, float side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;

    int i = y * width + x;
    out[i] = centre * in[i] + side * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}
