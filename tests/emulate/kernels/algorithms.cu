// sorts, strings, graphs, clusters of data
extern "C" __global__ void bitonic_registers(unsigned* keys) {   // 4 keys per lane, 128 per warp
    int lane = threadIdx.x & 31;
    unsigned* mine = keys + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 128;
    unsigned k[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) k[i] = mine[lane * 4 + i];
    #pragma unroll
    for (int size = 2; size <= 128; size *= 2) {
        #pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                int at = lane * 4 + i;
                bool up = (at & size) == 0;
                if (stride >= 4) {
                    unsigned other = __shfl_xor_sync(~0u, k[i], stride / 4);
                    bool low = (at & stride) == 0;
                    k[i] = (low == up) ? min(k[i], other) : max(k[i], other);
                } else if ((i & stride) == 0) {
                    unsigned a = k[i], b = k[i | stride];
                    if ((a > b) == up) { k[i] = b; k[i | stride] = a; }
                }
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) mine[lane * 4 + i] = k[i];
}
extern "C" __global__ void levenshtein(const char* a, const char* b, int* out, int n) {  // one block per pair, wavefront
    extern __shared__ int diag[];
    int *prev2 = diag, *prev = diag + n + 1, *now = diag + 2 * (n + 1);
    const char *s = a + blockIdx.x * n, *t = b + blockIdx.x * n;
    for (int d = 0; d <= 2 * n; ++d) {
        for (int i = threadIdx.x; i <= n; i += blockDim.x) {
            int j = d - i;
            if (j < 0 || j > n) continue;
            if (i == 0) now[i] = j;
            else if (j == 0) now[i] = i;
            else {
                int best = min(prev[i], prev[i - 1]) + 1;
                now[i] = min(best, prev2[i - 1] + (s[i - 1] != t[j - 1]));
            }
        }
        __syncthreads();
        int* old = prev2; prev2 = prev; prev = now; now = old;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = prev[n];
}
__device__ int find_root(volatile int* parent, int x) {
    while (parent[x] != x) { parent[x] = parent[parent[x]]; x = parent[x]; }
    return x;
}
extern "C" __global__ void union_find(int* parent, const int2* edges, int m) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += gridDim.x * blockDim.x) {
        int u = edges[e].x, v = edges[e].y;
        while (true) {
            u = find_root(parent, u); v = find_root(parent, v);
            if (u == v) break;
            if (u < v) { int s = u; u = v; v = s; }
            if (atomicCAS(&parent[u], u, v) == u) break;
        }
    }
}
extern "C" __global__ void flatten(int* parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int r = i; while (parent[r] != r) r = parent[r]; parent[i] = r; }
}
extern "C" __global__ void kmeans_step(const float2* points, const float2* centres, float* sums, int* counts, int* label, int n, int k) {
    __shared__ float2 c[64];
    __shared__ float sx[64], sy[64];
    __shared__ int cnt[64];
    for (int i = threadIdx.x; i < k; i += blockDim.x) { c[i] = centres[i]; sx[i] = sy[i] = 0; cnt[i] = 0; }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 p = points[i];
        float best = 1e30f; int at = -1;
        for (int j = 0; j < k; ++j) {
            float dx = p.x - c[j].x, dy = p.y - c[j].y, d = dx * dx + dy * dy;
            if (d < best) { best = d; at = j; }
        }
        label[i] = at;
        atomicAdd(&sx[at], p.x); atomicAdd(&sy[at], p.y); atomicAdd(&cnt[at], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        atomicAdd(&sums[2 * i], sx[i]); atomicAdd(&sums[2 * i + 1], sy[i]); atomicAdd(&counts[i], cnt[i]);
    }
}
extern "C" __global__ void life_bits(const unsigned* in, unsigned* out, int words, int rows) {  // 32 cells a word, torus
    int w = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (w >= words) return;
    unsigned s0 = 0, s1 = 0, s2 = 0;
    auto add = [&](unsigned x) { unsigned c0 = s0 & x; s0 ^= x; unsigned c1 = s1 & c0; s1 ^= c0; s2 |= c1; };
    unsigned self = 0;
    for (int dr = -1; dr <= 1; ++dr) {
        const unsigned* row = in + ((r + dr + rows) % rows) * words;
        unsigned m = row[w], l = row[(w + words - 1) % words], h = row[(w + 1) % words];
        add(__funnelshift_l(l, m, 1)); add(__funnelshift_r(m, h, 1));
        if (dr) add(m); else self = m;
    }
    out[r * words + w] = ~s2 & s1 & (s0 | self);
}
__constant__ unsigned K256[64] = {
0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,
0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,
0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,
0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2};
extern "C" __global__ void sha256(const unsigned* blocks, unsigned* digest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16], h[8] = {0x6a09e667,0xbb67ae85,0x3c6ef372,0xa54ff53a,0x510e527f,0x9b05688c,0x1f83d9ab,0x5be0cd19};
    for (int t = 0; t < 16; ++t) w[t] = __byte_perm(blocks[i * 16 + t], 0, 0x0123);
    unsigned v[8];
    for (int t = 0; t < 8; ++t) v[t] = h[t];
    #define R(x, n) __funnelshift_r(x, x, n)
    #pragma unroll 16
    for (int t = 0; t < 64; ++t) {
        if (t >= 16) {
            unsigned a = w[(t + 1) & 15], b = w[(t + 14) & 15];
            w[t & 15] += (R(a, 7) ^ R(a, 18) ^ (a >> 3)) + w[(t + 9) & 15] + (R(b, 17) ^ R(b, 19) ^ (b >> 10));
        }
        unsigned t1 = v[7] + (R(v[4], 6) ^ R(v[4], 11) ^ R(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K256[t] + w[t & 15];
        unsigned t2 = (R(v[0], 2) ^ R(v[0], 13) ^ R(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6]; v[6] = v[5]; v[5] = v[4]; v[4] = v[3] + t1; v[3] = v[2]; v[2] = v[1]; v[1] = v[0]; v[0] = t1 + t2;
    }
    for (int t = 0; t < 8; ++t) digest[i * 8 + t] = __byte_perm(h[t] + v[t], 0, 0x0123);
}
extern "C" __global__ void triangular(const int* start, const int* column, const double* value, const double* b, double* x, volatile int* done, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;   // a warp per row, flags
    if (row >= n) return;
    double sum = 0;
    for (int k = start[row] + lane; k < start[row + 1] - 1; k += 32) {
        int c = column[k];
        while (!done[c]) {}
        __threadfence();
        sum += value[k] * ((volatile double*)x)[c];
    }
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) {
        x[row] = (b[row] - sum) / value[start[row + 1] - 1];
        __threadfence();
        done[row] = 1;
    }
}
extern "C" __global__ void sample_buckets(const float* x, const float* splitters, int* bucket, int* histogram, int n, int k) {
    extern __shared__ float s[];
    int* h = (int*)(s + k);
    for (int i = threadIdx.x; i < k; i += blockDim.x) s[i] = splitters[i];
    for (int i = threadIdx.x; i <= k; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int lo = 0, hi = k;
        while (lo < hi) { int mid = (lo + hi) >> 1; if (s[mid] <= x[i]) lo = mid + 1; else hi = mid; }
        bucket[i] = lo;
        atomicAdd(&h[lo], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i <= k; i += blockDim.x) if (h[i]) atomicAdd(&histogram[i], h[i]);
}
