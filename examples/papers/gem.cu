// Electrostatic potential at the points of a surface: one point per thread, a sum over all components.
// GEM of CampProf, section 5.1: all warps read the components from the first to the last, so they meet in one memory
// partition at the start and follow each other through the partitions from then on.
extern "C" __global__ void gem(const float4* __restrict__ component, const float4* __restrict__ point,
                               float* __restrict__ potential, int components)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = point[i];
    float sum = 0.0f;
    for (int c = 0; c < components; c++) {
        float4 q = component[c];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
        sum += q.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
    }
    potential[i] = sum;
}
