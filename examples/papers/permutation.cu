// a[i] = b[c[i]]: two arrays are read and written in order, the third as c says.
// After V. Volkov, EECS-2016-143, Listing 3.6. With c[i] = i every access is coalesced; with random c each warp reads 32
// sectors, so that far fewer warps saturate memory: throughput falls more than latency grows.

__global__ void permutation(int* __restrict__ a, const int* __restrict__ b, const int* __restrict__ c)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    a[i] = b[c[i]];
}
