// y = a x + y, one element per thread.
// Teaches: streaming. Two loads, one store and one FMA per thread: DRAM bandwidth is all that counts,
// and occupancy is there only to keep enough bytes in flight.

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
