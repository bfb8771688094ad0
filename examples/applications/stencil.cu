// One step of a 7-point stencil on a cube: each thread walks up one column of points, keeping what lies below,
// here and above in registers.
// Teaches: registers carry reuse along z, L1 and L2 along x and y; DRAM should see each point twice.

__global__ void stencil(int nx, int ny, int nz, float centre, float side, const float* __restrict__ in,
                        float* __restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;

    int i = y * nx + x;
    float below = in[i], here = in[i += nx * ny];
    for (int z = 1; z < nz - 1; ++z) {
        float above = in[i + nx * ny];
        out[i] = centre * here + side * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        below = here;
        here = above;
        i += nx * ny;
    }
}
