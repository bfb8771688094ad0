// A launch whose blocks all wait for each other, twice.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sum(const int* in, int* partial, int* out)
{
    auto grid = cg::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[grid.thread_rank()]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    grid.sync();
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];
    grid.sync();
    if (threadIdx.x == 0) partial[blockIdx.x] = -1;
    out[grid.thread_rank()] = total;
}
