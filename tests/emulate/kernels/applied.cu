// Whole kernels of many trades: sorting, scans, strings, small matrices, attention, random numbers, codes, puzzles.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace cg = cooperative_groups;
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;

// One pass of a radix sort of a block's keys, stable: lanes of one digit find each other.
extern "C" __global__ void radix_pass(const u32* in, u32* out, int shift)
{
    __shared__ u32 count[8][16];
    const int t = threadIdx.x, warp = t / 32, lane = t & 31;
    if (lane < 16) count[warp][lane] = 0;
    __syncwarp();
    const u32 key = in[blockIdx.x * 256 + t], digit = key >> shift & 15, peers = __match_any_sync(~0u, digit);
    const u32 before = __popc(peers & ((1u << lane) - 1));
    if (before == 0) count[warp][digit] = __popc(peers);
    __syncthreads();
    if (t < 32) {
        u32 total = 0, first = 0;
        if (t < 16) for (int w = 0; w < 8; w++) { u32 c = count[w][t]; count[w][t] = total; total += c; }
        first = total;
        for (int d = 1; d < 16; d *= 2) { u32 y = __shfl_up_sync(~0u, first, d); if (t >= d) first += y; }
        if (t < 16) for (int w = 0; w < 8; w++) count[w][t] += first - total;
    }
    __syncthreads();
    out[blockIdx.x * 256 + count[warp][digit] + before] = key;
}

// Sums that begin anew at each flag, over a block.
extern "C" __global__ void segmented_scan(const float* x, const u8* head, float* out)
{
    __shared__ float sums[32];
    __shared__ bool heads[32];
    const int t = threadIdx.x, lane = t & 31, warp = t / 32;
    float v = x[t];
    bool f = head[t];
    for (int d = 1; d < 32; d *= 2) {
        float y = __shfl_up_sync(~0u, v, d);
        bool g = __shfl_up_sync(~0u, f, d);
        if (lane >= d) { if (!f) v += y; f |= g; }
    }
    if (lane == 31) { sums[warp] = v; heads[warp] = f; }
    __syncthreads();
    if (warp > 0 && !f) {
        float before = 0;
        for (int w = warp - 1; w >= 0; w--) { before = sums[w] + before; if (heads[w]) break; }
        v += before;
    }
    out[t] = v;
}

// Best local alignment of two strings, one diagonal of the table after the other.
extern "C" __global__ void smith_waterman(const char* a, const char* b, int n, int* best)
{
    extern __shared__ int rows[];
    int *last = rows, *before = rows + n + 1, *now = rows + 2 * n + 2, most = 0;
    const int i = threadIdx.x + 1;
    last[i] = before[i] = now[i] = 0;
    if (i == 1) last[0] = before[0] = now[0] = 0;
    for (int d = 2; d <= 2 * n; d++) {
        __syncthreads();
        const int j = d - i;
        if (j >= 1 && j <= n) {
            const int same = a[blockIdx.x * n + i - 1] == b[blockIdx.x * n + j - 1] ? 3 : -2;
            now[i] = max(max(0, (j > 1 ? before[i - 1] : 0) + same), max(j > 1 ? last[i] - 4 : -4, last[i - 1] - 4));
            most = max(most, now[i]);
        } else now[i] = 0;
        int* spare = before; before = last; last = now; now = spare;
    }
    atomicMax(best + blockIdx.x, most);
}

// Householder's QR of small matrices in registers: what is left is the upper triangle.
extern "C" __global__ void small_qr(const double* in, double* out, int count)
{
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;
    double a[4][4];
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[i][j] = in[(i * 4 + j) * count + m];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        double norm = 0, dot, v[4];
        for (int i = k; i < 4; i++) norm += a[i][k] * a[i][k];
        norm = copysign(sqrt(norm), -a[k][k]);
        for (int i = k; i < 4; i++) v[i] = a[i][k] - (i == k ? norm : 0);
        double length = 0;
        for (int i = k; i < 4; i++) length += v[i] * v[i];
        for (int j = k; j < 4; j++) {
            dot = 0;
            for (int i = k; i < 4; i++) dot += v[i] * a[i][j];
            for (int i = k; i < 4; i++) a[i][j] -= 2 * dot / length * v[i];
        }
    }
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) out[(i * 4 + j) * count + m] = a[i][j];
}

// Attention of sixteen queries over many keys, a tile of keys after the other, with a running maximum and sum.
extern "C" __global__ void flash_tile(const half* q, const half* k, const half* v, float* out, int keys)
{
    using namespace nvcuda::wmma;
    __shared__ float scores[16][16], sums[16][16], weighted[16][16];
    __shared__ half weights[16][16];
    const int lane = threadIdx.x, row = lane / 2, half_of_row = lane & 1;
    float most = -1e30f, total = 0;
    for (int i = lane; i < 256; i += 32) sums[i / 16][i % 16] = 0;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, col_major> b;
    fragment<matrix_b, 16, 16, 16, half, row_major> c;
    fragment<accumulator, 16, 16, 16, float> d;
    for (int first = 0; first < keys; first += 16) {
        load_matrix_sync(a, q, 16);
        load_matrix_sync(b, k + first * 16, 16);
        fill_fragment(d, 0);
        mma_sync(d, a, b, d);
        store_matrix_sync(&scores[0][0], d, 16, mem_row_major);
        __syncwarp();
        float here = most;
        for (int j = 0; j < 8; j++) here = fmaxf(here, scores[row][half_of_row * 8 + j] * 0.25f);
        here = fmaxf(here, __shfl_xor_sync(~0u, here, 1));
        const float shrink = expf(most - here);
        float sum = 0;
        for (int j = half_of_row * 8; j < half_of_row * 8 + 8; j++) {
            const float w = expf(scores[row][j] * 0.25f - here);
            sum += w;
            weights[row][j] = __float2half(w);
            sums[row][j] *= shrink;
        }
        total = total * shrink + sum + __shfl_xor_sync(~0u, sum, 1);
        most = here;
        __syncwarp();
        load_matrix_sync(a, &weights[0][0], 16);
        load_matrix_sync(c, v + first * 16, 16);
        fill_fragment(d, 0);
        mma_sync(d, a, c, d);
        store_matrix_sync(&weighted[0][0], d, 16, mem_row_major);
        __syncwarp();
        for (int j = half_of_row * 8; j < half_of_row * 8 + 8; j++) sums[row][j] += weighted[row][j];
        __syncwarp();
    }
    for (int j = half_of_row * 8; j < half_of_row * 8 + 8; j++) out[row * 16 + j] = sums[row][j] / total;
}

// MT19937: the state made anew 227 words at a time, and 624 numbers of it.
extern "C" __global__ void mersenne_twister(const u32* seeds, u32* out)
{
    __shared__ u32 state[624];
    const int t = threadIdx.x;
    if (t == 0) {
        u32 s = seeds[blockIdx.x];
        for (int i = 0; i < 624; i++) { state[i] = s; s = 1812433253u * (s ^ s >> 30) + i + 1; }
    }
    __syncthreads();
    for (int first = 0; first < 624; first += 227) {
        const int i = first + t;
        u32 y = 0;
        const bool mine = t < 227 && i < 624;
        if (mine) y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
        if (mine) y = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
        __syncthreads();
        if (mine) state[i] = y;
        __syncthreads();
    }
    for (int i = t; i < 624; i += blockDim.x) {
        u32 y = state[i];
        y ^= y >> 11; y ^= y << 7 & 0x9d2c5680; y ^= y << 15 & 0xefc60000; y ^= y >> 18;
        out[blockIdx.x * 624 + i] = y;
    }
}

extern "C" __global__ void big_product(const u32* a, const u32* b, u32* out, int count)
{   // 256 bits by 256 bits, by the carry flag
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    u32 r[16] = {}, x[8], y[8];
    for (int i = 0; i < 8; i++) { x[i] = a[8 * t + i]; y[i] = b[8 * t + i]; }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u32 carry = 0;
#pragma unroll
        for (int j = 0; j < 8; j++)
            asm("{ .reg .u32 low, high; mad.lo.cc.u32 low, %3, %4, %2; madc.hi.u32 high, %3, %4, 0;\n"
                "add.cc.u32 %0, low, %5; addc.u32 %1, high, 0; }"
                : "=r"(r[i + j]), "=r"(carry) : "r"(r[i + j]), "r"(x[i]), "r"(y[j]), "r"(carry));
        r[i + 8] = carry;
    }
    for (int i = 0; i < 16; i++) out[16 * t + i] = r[i];
}

extern "C" __global__ void jacobi_grid(float* a, float* b, int n, int rounds)
{   // blocks wait for each other after each round
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = i == 0 || i == n - 1 ? a[i] : 0.5f * (a[i - 1] + a[i + 1]);
        grid.sync();
        float* c = a; a = b; b = c;
    }
}

// Backtracking with bits and a stack of its own: how many ways for queens, by the first two rows.
extern "C" __global__ void queens(int n, int* ways)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, c0 = t / n, c1 = t % n;
    if (t >= n * n) return;
    const u32 all = (1u << n) - 1, p = 1u << c0, q = 1u << c1;
    if (q & (p | p << 1 | p >> 1)) { ways[t] = 0; return; }
    u32 columns[16], left[16], right[16], open[16];
    int depth = 0, found = 0;
    columns[0] = p | q; left[0] = ((p << 1 | q) << 1) & all; right[0] = (p >> 1 | q) >> 1;
    open[0] = all & ~(columns[0] | left[0] | right[0]);
    while (depth >= 0) {
        if (!open[depth]) { depth--; continue; }
        const u32 bit = open[depth] & -open[depth];
        open[depth] ^= bit;
        if (depth == n - 3) { found++; continue; }
        columns[depth + 1] = columns[depth] | bit;
        left[depth + 1] = ((left[depth] | bit) << 1) & all; right[depth + 1] = (right[depth] | bit) >> 1;
        depth++;
        open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    ways[t] = found;
}

// A prefix code read bit by bit, a stream for each thread.
extern "C" __global__ void prefix_code(const u32* bits, const short* tree, u8* out, int words, int letters)
{
    const int t = threadIdx.x;
    u64 window = 0;
    int held = 0, at = 0;
    for (int i = 0; i < letters; i++) {
        int node = 0;
        do {
            if (held == 0) { window = bits[t * words + at++]; held = 32; }
            node = tree[2 * node + (int)(window & 1)];
            window >>= 1; held--;
        } while (node > 0);
        out[t * letters + i] = (u8)~node;
    }
}
