// Blocks of a cluster that read, write and wait for each other's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_ring(const float* in, float* out)
{
    __shared__ float row[128];
    auto cluster = cg::this_cluster();
    row[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    cluster.sync();
    float* other = cluster.map_shared_rank(row, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[blockIdx.x * 128 + threadIdx.x] = other[127 - threadIdx.x] + cluster.block_rank();
    cluster.sync();
}

extern "C" __global__ void cluster_histogram(const int* in, int* out, int n)
{
    __shared__ int bins[32];  // every block of the cluster holds 32 of the bins
    auto cluster = cg::this_cluster();
    bins[threadIdx.x % 32] = 0;
    cluster.sync();
    int blocks = cluster.num_blocks();
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
        int bin = in[i] % (32 * blocks);
        atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
    }
    cluster.sync();
    if (threadIdx.x < 32) atomicAdd(out + 32 * cluster.block_rank() + threadIdx.x, bins[threadIdx.x]);
    cluster.sync();
}

extern "C" __global__ void cluster_places(int* out)
{
    auto cluster = cg::this_cluster();
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    auto size = cluster.dim_blocks(), at = cluster.block_index();
    out[4 * block] = cluster.block_rank();
    out[4 * block + 1] = size.x + 10 * size.y;
    out[4 * block + 2] = at.x + 10 * at.y;
    unsigned x, y;
    asm volatile("mov.u32 %0, %%clusterid.x; mov.u32 %1, %%clusterid.y;" : "=r"(x), "=r"(y));
    out[4 * block + 3] = x + 10 * y;
}
