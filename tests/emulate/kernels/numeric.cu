// Numerical kernels: transforms, linear algebra, stencils, statistics, finance.

extern "C" __global__ void fft512(const float2* in, float2* out)
{
    __shared__ float2 s[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 256) s[__brev(i) >> 23] = in[blockIdx.x * 512 + i];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), base = (t / half) * 2 * half + k;
        float sine, cosine;
        sincospif(-(float)k / half, &sine, &cosine);
        float2 a = s[base], b = s[base + half];
        float re = b.x * cosine - b.y * sine, im = b.x * sine + b.y * cosine;
        s[base] = make_float2(a.x + re, a.y + im);
        s[base + half] = make_float2(a.x - re, a.y - im);
    }
    __syncthreads();
    for (int i = t; i < 512; i += 256) out[blockIdx.x * 512 + i] = s[i];
}

extern "C" __global__ void nbody_step(const float4* body, float3* force, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = body[i];
    float3 f = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = tile[j].w * inv * inv * inv;
            f.x += dx * s; f.y += dy * s; f.z += dz * s;
        }
        __syncthreads();
    }
    force[i] = f;
}

extern "C" __global__ void gemm_double_buffer(const float* A, const float* B, float* C, int n)
{
    __shared__ float a[2][16][17], b[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    a[0][y][x] = A[row * n + x];
    b[0][y][x] = B[y * n + col];
    __syncthreads();
    float sum = 0;
    int tiles = n / 16;
    for (int t = 0; t < tiles; ++t) {
        int now = t & 1, next = now ^ 1;
        float na = 0, nb = 0;
        if (t + 1 < tiles) {
            na = A[row * n + (t + 1) * 16 + x];
            nb = B[((t + 1) * 16 + y) * n + col];
        }
        #pragma unroll
        for (int k = 0; k < 16; ++k) sum += a[now][y][k] * b[now][k][x];
        if (t + 1 < tiles) {
            a[next][y][x] = na;
            b[next][y][x] = nb;
        }
        __syncthreads();
    }
    C[row * n + col] = sum;
}

extern "C" __global__ void stencil7(const float* in, float* out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int plane = nx * ny, at = y * nx + x + plane;
    float below = in[at - plane], here = in[at];
    for (int z = 1; z < nz - 1; ++z, at += plane) {
        float above = in[at + plane];
        out[at] = 0.4f * here + 0.1f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + below + above);
        below = here;
        here = above;
    }
}

extern "C" __global__ void mandel(int* out, int w, int h, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    double cx = -2.0 + 3.0 * x / w, cy = -1.5 + 3.0 * y / h, zx = 0, zy = 0;
    int i = 0;
    while (i < most && zx * zx + zy * zy < 4.0) {
        double t = __dadd_rn(__dsub_rn(__dmul_rn(zx, zx), __dmul_rn(zy, zy)), cx);
        zy = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zx), zy), cy);
        zx = t;
        ++i;
    }
    out[y * w + x] = i;
}

extern "C" __global__ void lu_step(double* a, int n, int k)
{
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    double factor = a[i * n + k] / a[k * n + k];
    a[i * n + j] -= factor * a[k * n + j];
}

__device__ float block_reduce(float v, float* s, bool largest)
{
    for (int d = 16; d > 0; d /= 2) {
        float o = __shfl_xor_sync(0xffffffffu, v, d);
        v = largest ? fmaxf(v, o) : v + o;
    }
    if ((threadIdx.x & 31) == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (int w = 1; w < blockDim.x / 32; ++w) v = largest ? fmaxf(v, s[w]) : v + s[w];
    __syncthreads();
    return v;
}

extern "C" __global__ void softmax_row(const float* in, float* out, int n)
{
    __shared__ float s[32];
    const float* row = in + blockIdx.x * n;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
    most = block_reduce(most, s, true);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
    sum = block_reduce(sum, s, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

extern "C" __global__ void layer_norm(const float* in, const float* scale, const float* shift, float* out, int n)
{
    __shared__ float s[32];
    const float* row = in + blockIdx.x * n;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) { sum += row[i]; square += row[i] * row[i]; }
    float mean = block_reduce(sum, s, false) / n;
    float variance = block_reduce(square, s, false) / n - mean * mean;
    float factor = 1.0f / sqrtf(variance + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = (row[i] - mean) * factor * scale[i] + shift[i];
}

extern "C" __global__ void attention_row(const float* q, const float* k, const float* v, float* out, int keys)
{
    __shared__ float score[256], s[32];
    int t = threadIdx.x;
    float dot = 0;
    for (int d = 0; d < 64; ++d) dot += q[blockIdx.x * 64 + d] * k[t * 64 + d];
    dot = t < keys ? dot * 0.125f : -1e30f;
    float most = block_reduce(dot, s, true);
    float weight = t < keys ? __expf(dot - most) : 0.0f;
    float sum = block_reduce(weight, s, false);
    score[t] = weight;
    __syncthreads();
    if (t < 64) {
        float o = 0;
        for (int j = 0; j < keys; ++j) o += score[j] * v[j * 64 + t];
        out[blockIdx.x * 64 + t] = o / sum;
    }
}

__device__ uint4 philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        unsigned hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
        unsigned hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ key.x, lo1, hi0 ^ c.w ^ key.y, lo0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

extern "C" __global__ void philox_pi(unsigned* inside, uint4* first, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int r = 0; r < rounds; ++r) {
        uint4 u = philox(make_uint4(i, r, 0, 0), make_uint2(42, 7));
        if (r == 0) first[i] = u;
        float x = u.x * 2.3283064365386963e-10f, y = u.y * 2.3283064365386963e-10f;
        count += x * x + y * y < 1.0f;
    }
    atomicAdd(inside, count);
}

__device__ float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = 0.3989422804f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - p : p;
}

extern "C" __global__ void black_scholes(const float* spot, const float* strike, const float* years, float* call, float* put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float root = sqrtf(years[i]);
    float d1 = (logf(spot[i] / strike[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * years[i]) / (0.3f * root);
    float d2 = d1 - 0.3f * root, c1 = normal_cdf(d1), c2 = normal_cdf(d2);
    float discount = expf(-0.02f * years[i]);
    call[i] = spot[i] * c1 - strike[i] * discount * c2;
    put[i] = strike[i] * discount * (1.0f - c2) - spot[i] * (1.0f - c1);
}

extern "C" __global__ void double_functions(const double* a, const double* b, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    out[8 * i] = x / y;
    out[8 * i + 1] = sqrt(fabs(x));
    out[8 * i + 2] = exp(y);
    out[8 * i + 3] = log(fabs(x));
    out[8 * i + 4] = sin(x);
    out[8 * i + 5] = pow(fabs(x), y);
    out[8 * i + 6] = rsqrt(fabs(x));
    out[8 * i + 7] = fma(x, y, -x * y);
}

extern "C" __global__ void float_functions(const float* a, const float* b, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[12 * i] = x / y;
    out[12 * i + 1] = sqrtf(fabsf(x));
    out[12 * i + 2] = expf(y);
    out[12 * i + 3] = logf(fabsf(x));
    out[12 * i + 4] = sinf(x);
    out[12 * i + 5] = cosf(x * 100000.0f);
    out[12 * i + 6] = powf(fabsf(x), y);
    out[12 * i + 7] = tanhf(x);
    out[12 * i + 8] = fmodf(x, y);
    out[12 * i + 9] = erff(x);
    out[12 * i + 10] = cbrtf(x);
    out[12 * i + 11] = atan2f(x, y);
}
