// Seven points of a cube with a margin of one; a block of X x Y columns goes up PLANES planes.
__global__ void stencil3d(const float *__restrict__ in, float *__restrict__ out, int n) {
    int pitch = n + 2, plane = pitch * pitch;
    int at = (blockIdx.z * PLANES + 1) * plane + (blockIdx.y * Y + threadIdx.y + 1) * pitch + blockIdx.x * X +
             threadIdx.x + 1;
    float below = in[at - plane], here = in[at];
#ifdef UNROLL
#pragma unroll UNROLL
#endif
    for (int z = 0; z < PLANES; z++) {
        float above = in[at + plane];
        out[at] = 0.4f * here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - pitch] + in[at + pitch]);
        below = here;
        here = above;
        at += plane;
    }
}
