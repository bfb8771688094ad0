// Whole parallel algorithms: scans, sorts, histograms, graphs, locks.

extern "C" __global__ void scan_block(const int* in, int* out)
{
    __shared__ int tile[512];
    int t = threadIdx.x, n = 2 * blockDim.x;
    tile[2 * t] = in[blockIdx.x * n + 2 * t];
    tile[2 * t + 1] = in[blockIdx.x * n + 2 * t + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tile[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            int kept = tile[i];
            tile[i] = tile[j];
            tile[j] += kept;
        }
    }
    __syncthreads();
    out[blockIdx.x * n + 2 * t] = tile[2 * t];
    out[blockIdx.x * n + 2 * t + 1] = tile[2 * t + 1];
}

// Single-pass scan with look-back: a block waits for the sums of those before it.
extern "C" __global__ void lookback_scan(const unsigned* in, unsigned* out, volatile unsigned* state,
                                         volatile unsigned* sums, unsigned* ticket)
{
    __shared__ unsigned part[256];
    __shared__ unsigned tile, before;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned i = tile * 256 + threadIdx.x;
    unsigned value = in[i];
    part[threadIdx.x] = value;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        unsigned other = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
        __syncthreads();
        part[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned total = part[255], prefix = 0;
        sums[2 * tile] = total;
        __threadfence();
        state[tile] = 1;
        for (int t = (int)tile - 1; t >= 0; --t) {
            unsigned s;
            while ((s = state[t]) == 0) {}
            __threadfence();
            if (s == 2) { prefix += sums[2 * t + 1]; break; }
            prefix += sums[2 * t];
        }
        sums[2 * tile + 1] = prefix + total;
        __threadfence();
        state[tile] = 2;
        before = prefix;
    }
    __syncthreads();
    out[i] = part[threadIdx.x] + before;
}

extern "C" __global__ void bitonic_sort(unsigned* keys)
{
    __shared__ unsigned tile[256];
    unsigned t = threadIdx.x;
    tile[t] = keys[blockIdx.x * 256 + t];
    for (unsigned k = 2; k <= 256; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            unsigned other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((tile[t] > tile[other]) == up) {
                    unsigned kept = tile[t];
                    tile[t] = tile[other];
                    tile[other] = kept;
                }
            }
        }
    __syncthreads();
    keys[blockIdx.x * 256 + t] = tile[t];
}

// One block sorts 1024 keys by four bits at a time, with ballots inside warps.
extern "C" __global__ void radix_sort(unsigned* keys)
{
    __shared__ unsigned tile[1024];
    __shared__ unsigned counts[16][32], starts[16];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    tile[t] = keys[t];
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 4) {
        unsigned key = tile[t], digit = key >> shift & 15, mine = 0;
        for (unsigned d = 0; d < 16; ++d) {
            unsigned with = __ballot_sync(0xffffffffu, digit == d);
            if (lane == 0) counts[d][warp] = __popc(with);
            if (digit == d) mine = __popc(with & ((1u << lane) - 1));
        }
        __syncthreads();
        if (t < 16) {
            unsigned sum = 0;
            for (int w = 0; w < 32; ++w) {
                unsigned c = counts[t][w];
                counts[t][w] = sum;
                sum += c;
            }
            starts[t] = sum;
        }
        __syncthreads();
        if (t == 0) {
            unsigned sum = 0;
            for (int d = 0; d < 16; ++d) {
                unsigned c = starts[d];
                starts[d] = sum;
                sum += c;
            }
        }
        __syncthreads();
        tile[starts[digit] + counts[digit][warp] + mine] = key;
        __syncthreads();
    }
    keys[t] = tile[t];
}

extern "C" __global__ void histogram256(const unsigned char* data, unsigned* bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void bfs_step(const int* first, const int* edges, int* level, int* changed, int depth, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth) return;
    for (int e = first[v]; e < first[v + 1]; ++e)
        if (atomicCAS(&level[edges[e]], -1, depth + 1) == -1) *changed = 1;
}

__device__ unsigned hash_of(unsigned key)
{
    key ^= key >> 16; key *= 0x85ebca6bu; key ^= key >> 13; key *= 0xc2b2ae35u; key ^= key >> 16;
    return key;
}

extern "C" __global__ void hash_build(const unsigned* keys, unsigned long long* table, unsigned mask, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long entry = (unsigned long long)keys[i] << 32 | (i + 1);
    unsigned slot = hash_of(keys[i]) & mask;
    while (atomicCAS(&table[slot], 0ull, entry) != 0) slot = (slot + 1) & mask;
}

extern "C" __global__ void hash_probe(const unsigned* probes, const unsigned long long* table, unsigned mask, int* found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned slot = hash_of(probes[i]) & mask;
    int result = -1;
    for (;;) {
        unsigned long long entry = table[slot];
        if (entry == 0) break;
        if ((unsigned)(entry >> 32) == probes[i]) { result = (int)(entry & 0xffffffffu) - 1; break; }
        slot = (slot + 1) & mask;
    }
    found[i] = result;
}

extern "C" __global__ void spin_lock(int* lock, int* count)
{
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            count[0] = count[0] + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

extern "C" __global__ void ticket_lock(unsigned* next, volatile unsigned* serving, volatile int* count)
{
    unsigned mine = atomicAdd(next, 1);
    bool done = false;
    while (!done)
        if (*serving == mine) {
            *count = *count * 3 + 1;
            __threadfence();
            *serving = mine + 1;
            done = true;
        }
}

// The last block to arrive adds up what all blocks left.
extern "C" __global__ void last_block_sum(const float* in, float* partial, unsigned* arrived, float* out, int n)
{
    __shared__ float tile[128];
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += in[i];
    tile[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) tile[threadIdx.x] += tile[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += ((volatile float*)partial)[b];
        *out = all;
    }
}

extern "C" __global__ void spmv_vector(const int* first, const int* column, const float* value, const float* x, float* y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0;
    for (int e = first[row] + lane; e < first[row + 1]; e += 32) sum += value[e] * x[column[e]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}
