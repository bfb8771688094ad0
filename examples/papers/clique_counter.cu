// Cliques of SIZE vertices in a graph of sorted adjacency lists. CampProf, section 5.2: vertices in turn over the
// threads; a clique grows by vertices that are common to the lists of all its vertices, and the thread backtracks.
#ifndef SIZE
#define SIZE 4
#endif

__device__ bool adjacent(const int* first, const int* neighbours, int v, int u)
{
    int low = first[v], high = first[v + 1];
    while (low < high) {
        int middle = (low + high) / 2, found = neighbours[middle];
        if (found == u)
            return true;
        if (found < u)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

extern "C" __global__ void clique_counter(const int* first, const int* neighbours, int vertices, int* total)
{
    int cliques = 0;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x) {
        int clique[SIZE], at[SIZE], end[SIZE], depth = 0;
        clique[0] = v;
        at[0] = first[v];
        end[0] = first[v + 1];
        while (depth >= 0) {
            if (at[depth] == end[depth]) {
                depth--;
                continue;
            }
            int u = neighbours[at[depth]++];
            bool common = u > clique[depth];
            for (int j = 0; j < depth && common; j++)
                common = adjacent(first, neighbours, clique[j], u);
            if (!common)
                continue;
            if (depth == SIZE - 2) {
                cliques++;
                continue;
            }
            depth++;
            clique[depth] = u;
            at[depth] = first[u];
            end[depth] = first[u + 1];
        }
    }
    atomicAdd(total, cliques);
}
