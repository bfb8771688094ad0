// Gravity of all bodies on each body, bodies staged through shared memory; a body is (x, y, z, mass).
// Teaches: compute bound. About 20 flop for each shared-memory broadcast and no DRAM to speak of:
// FMA pipes and issue slots, plus one reciprocal square root per pair on the XU.
// The number of bodies must be a multiple of the block size.

#ifndef THREADS
#define THREADS 128
#endif

__global__ void nbody(const float4* __restrict__ bodies, float4* __restrict__ acceleration,
                      int n, float softening_squared)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 self = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;

    for (int start = 0; start < n; start += THREADS) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();

#pragma unroll 8
        for (int k = 0; k < THREADS; ++k) {
            float dx = tile[k].x - self.x;
            float dy = tile[k].y - self.y;
            float dz = tile[k].z - self.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening_squared);
            float strength = tile[k].w * inverse * inverse * inverse;
            ax += strength * dx;
            ay += strength * dy;
            az += strength * dz;
        }
        __syncthreads();
    }
    acceleration[i] = make_float4(ax, ay, az, 0.0f);
}
