// One level of a breadth-first search, one thread per node; every node has `degree` neighbours.
// Teaches: data decide who works. Half a warp's lanes may idle, and each neighbour is a sector of its own.

__global__ void bfs(int nodes, int degree, int next, const bool* __restrict__ frontier,
                    const unsigned short* __restrict__ neighbour, const bool* __restrict__ visited,
                    int* __restrict__ level, bool* __restrict__ reached)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !frontier[node])
        return;

    for (int k = 0; k < degree; ++k) {
        int other = neighbour[node * degree + k];
        if (!visited[other]) {
            level[other] = next;
            reached[other] = true;
        }
    }
}
