// Dependent loads at random places: each address needs the value that the load before it brought.
// Teaches: latency bound. One warp per SM waits for DRAM at every step; more warps help in proportion,
// until bandwidth binds. The table may hold any values (size must be a power of two).

__global__ void pointer_chase(const unsigned int* __restrict__ table, unsigned int* __restrict__ last,
                              unsigned int size, int steps)
{
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int at = thread * 2654435761u & (size - 1);
    for (int step = 0; step < steps; ++step)
        at = (at * 1664525u + 1013904223u + table[at]) & (size - 1);
    last[thread] = at;
}
