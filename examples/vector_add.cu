// c = a + b, one element per thread.
// Teaches: the smallest useful kernel. Twelve bytes of DRAM traffic for one addition; nothing but
// bandwidth, and for small n nothing but the launch itself.

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
