// One corner of the instruction set each.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

typedef unsigned long long u64;

extern "C" __global__ void wide_integers(const u64* a, const u64* b, u64* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = a[i], y = b[i];
    long long p = x, q = y;
    u64* o = out + 16 * i;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x / (y | 1); o[4] = x % (y | 1);
    o[5] = p / (q | 1); o[6] = p % (q | 1); o[7] = __umul64hi(x, y); o[8] = __mul64hi(p, q);
    o[9] = x << (y & 63); o[10] = x >> (y & 63); o[11] = p >> (y & 63);
    o[12] = (x < y) | (p < q) << 1 | (x == y) << 2 | (p >= q) << 3 | (x != y) << 4 | (x > y) << 5;
    o[13] = x > y ? x - y : y - x; o[14] = p < 0 ? -p : p; o[15] = (u64)(unsigned)x * (unsigned)y + (x & 0xffffffff);
}

extern "C" __global__ void narrow_integers(const int* a, const int* b, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], *o = out + 28 * i;
    unsigned u = x, v = y;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x / (y | 1); o[4] = x % (y | 1); o[5] = u / (v | 1); o[6] = u % (v | 1);
    o[7] = __mulhi(x, y); o[8] = __umulhi(u, v); o[9] = x << (y & 31); o[10] = x >> (y & 31); o[11] = u >> (v & 31);
    o[12] = __popc(u); o[13] = __clz(x); o[14] = __brev(u); o[15] = __ffs(x);
    o[16] = __byte_perm(u, v, 0x5410 ^ (x & 0x7777)); o[17] = __funnelshift_l(u, v, y); o[18] = __funnelshift_r(u, v, y);
    o[19] = min(x, y); o[20] = max(u, v); o[21] = abs(x); o[22] = (x & y) | (~x & 0x12345678);
    o[23] = __sad(x, y, u); o[24] = x * 7 + y * 5 + 3; o[25] = x / 10; o[26] = u % 1000; o[27] = __funnelshift_lc(u, v, y & 63);
}

extern "C" __global__ void dot_products(const int* a, const int* b, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = __dp4a(a[i], b[i], 7);
    out[4 * i + 1] = __dp4a((unsigned)a[i], (unsigned)b[i], 9u);
    out[4 * i + 2] = __dp2a_lo(a[i], b[i], 1);
    out[4 * i + 3] = __dp2a_hi((unsigned)a[i], (unsigned)b[i], 2u);
}

extern "C" __global__ void packed_integers(const unsigned* a, const unsigned* b, unsigned* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[6 * i] = __vadd4(a[i], b[i]);
    out[6 * i + 1] = __vmaxs4(a[i], b[i]);
    out[6 * i + 2] = __vminu2(a[i], b[i]);
    out[6 * i + 3] = __vmins2(a[i], b[i]);
    out[6 * i + 4] = __vabsdiffu4(a[i], b[i]);
    out[6 * i + 5] = __vsadu4(a[i], b[i]);
}

extern "C" __global__ void conversions(const float* f, const double* d, const int* s, const u64* w, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double* o = out + 32 * i;
    float x = f[i];
    double y = d[i];
    o[0] = (int)x; o[1] = (unsigned)x; o[2] = (long long)x; o[3] = __float2int_rn(x); o[4] = __float2int_ru(x); o[5] = __float2int_rd(x);
    o[6] = (int)y; o[7] = (long long)y; o[8] = (u64)y; o[9] = (float)y; o[10] = __double2float_ru(y); o[11] = __double2float_rz(y);
    o[12] = (float)s[i]; o[13] = (float)(unsigned)s[i]; o[14] = s[i]; o[15] = (unsigned)s[i]; o[16] = (float)w[i]; o[17] = (double)w[i];
    o[18] = (float)(long long)w[i]; o[19] = (double)(long long)w[i]; o[20] = rintf(x); o[21] = floorf(x); o[22] = ceilf(x); o[23] = truncf(x);
    o[24] = rint(y); o[25] = floor(y); o[26] = (signed char)s[i]; o[27] = (float)(unsigned char)s[i]; o[28] = (short)x; o[29] = __int2float_rz(s[i]);
    o[30] = __uint2float_ru(s[i]); o[31] = __ll2float_rd(w[i]);
}

extern "C" __global__ void rounding(const float* a, const float* b, const double* c, const double* d, double* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double* o = out + 24 * i;
    float x = a[i], y = b[i];
    double p = c[i], q = d[i];
    o[0] = __fadd_rn(x, y); o[1] = __fadd_rz(x, y); o[2] = __fadd_ru(x, y); o[3] = __fadd_rd(x, y);
    o[4] = __fmul_rn(x, y); o[5] = __fmul_rz(x, y); o[6] = __fmul_ru(x, y); o[7] = __fmul_rd(x, y);
    o[8] = __fmaf_rn(x, y, x); o[9] = __fmaf_rz(x, y, y); o[10] = __fmaf_ru(x, y, y); o[11] = __fmaf_rd(x, y, y);
    o[12] = __dadd_rz(p, q); o[13] = __dadd_ru(p, q); o[14] = __dadd_rd(p, q);
    o[15] = __dmul_rz(p, q); o[16] = __dmul_ru(p, q); o[17] = __dmul_rd(p, q);
    o[18] = __fma_rn(p, q, p); o[19] = __fma_rz(p, q, q); o[20] = __fma_ru(p, q, q); o[21] = __fma_rd(p, q, q);
    o[22] = __saturatef(x); o[23] = fminf(x, y) + fmaxf(x, y);
}

extern "C" __global__ void halves(const __half2* a, const __half2* b, __half2* out, float* single, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], *o = out + 8 * i;
    o[0] = __hadd2(x, y); o[1] = __hmul2(x, y); o[2] = __hfma2(x, y, x); o[3] = __hsub2(x, y);
    o[4] = __halves2half2(__low2half(x), __high2half(y)); o[5] = __hgt2(x, y); o[6] = __hneg2(x);
    o[7] = __floats2half2_rn(__low2float(x) * 3.0f, __high2float(y) / 3.0f);
    single[2 * i] = __low2float(x) + __high2float(y);
    single[2 * i + 1] = __hlt(__low2half(x), __low2half(y)) ? 1.0f : 2.0f;
}

extern "C" __global__ void bfloats(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* out, float* single, int n)
{
#if __CUDA_ARCH__ >= 800
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 x = a[i], y = b[i], *o = out + 5 * i;
    o[0] = __hadd2(x, y); o[1] = __hmul2(x, y); o[2] = __hfma2(x, y, x); o[3] = __hsub2(x, y);
    o[4] = __floats2bfloat162_rn(__low2float(x) * 3.0f, __high2float(y) / 3.0f);
    single[i] = __low2float(x) + __high2float(y);
#endif
}

extern "C" __global__ void warp_functions(const int* in, int* out)
{
    int lane = threadIdx.x, x = in[lane + 32 * blockIdx.x], *o = out + 16 * (lane + 32 * blockIdx.x);
    o[0] = __shfl_sync(0xffffffffu, x, lane * 7); o[1] = __shfl_up_sync(0xffffffffu, x, 3); o[2] = __shfl_down_sync(0xffffffffu, x, 5);
    o[3] = __shfl_xor_sync(0xffffffffu, x, 9); o[4] = __shfl_sync(0xffffffffu, x, lane + 1, 8); o[5] = __shfl_down_sync(0xffffffffu, x, 2, 16);
    o[6] = __ballot_sync(0xffffffffu, x & 1); o[7] = __any_sync(0xffffffffu, x > 5); o[8] = __all_sync(0xffffffffu, x > 5);
    o[9] = __activemask();
    o[10] = __match_any_sync(0xffffffffu, x & 3);
    int same;
    o[11] = __match_all_sync(0xffffffffu, x >> 30, &same);
    o[12] = same;
    if (lane & 1) o[13] = __shfl_xor_sync(0xaaaaaaaau, x, 2);
    else o[13] = __ballot_sync(0x55555555u, x & 2);
    o[14] = __shfl_up_sync(0xffffffffu, x, 1, 4);
    o[15] = __any_sync(0xffffffffu, lane == 40);
}

extern "C" __global__ void warp_reductions(const int* in, int* out)
{
#if __CUDA_ARCH__ >= 800
    int x = in[threadIdx.x], *o = out + 6 * threadIdx.x;
    o[0] = __reduce_add_sync(0xffffffffu, x); o[1] = __reduce_min_sync(0xffffffffu, x); o[2] = __reduce_max_sync(0xffffffffu, (unsigned)x);
    o[3] = __reduce_and_sync(0xffffffffu, x); o[4] = __reduce_or_sync(0xffffffffu, x); o[5] = __reduce_xor_sync(0xffffffffu, x);
#endif
}

extern "C" __global__ void block_votes(const int* in, int* out)
{
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], *o = out + 3 * (blockIdx.x * blockDim.x + threadIdx.x);
    o[0] = __syncthreads_count(x & 1);
    o[1] = __syncthreads_and(x > 3);
    o[2] = __syncthreads_or(x > 97);
}

extern "C" __global__ void named_barriers(int* out)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t < 64) {
        box[t] = t * t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = box[63 - t];
        asm volatile("bar.arrive 2, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 128;" ::: "memory");
        out[t] = box[t - 64] + 1;
    }
}

extern "C" __global__ void switch_table(int* o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    switch (o[i]) {
        case 0: v = n * 3; break;
        case 1: v = n + 7; o[i + 4096] = 5; break;
        case 2: v = n * n; break;
        case 3: v = n ^ 99; o[i + 4096] = 7; break;
        case 4: v = n / 3; break;
        case 5: v = ~n; break;
        case 6: v = n % 7; break;
        case 7: v = n << 3; o[i + 4096] = 9; break;
        case 8: v = n - 11; break;
    }
    o[i] = v;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int* o) { o[threadIdx.x] = fibonacci(threadIdx.x % 11); }

__constant__ float coefficients[16];
__device__ int counter;
__device__ float table[64] = {1, 2, 3, 4, 5};

extern "C" __global__ void symbols(float* o, int k)
{
    int i = threadIdx.x;
    o[i] = coefficients[i & 15] + table[i & 7] + coefficients[k];
    atomicAdd(&counter, i);
}

struct Settings { int count; float scale; double shift; short small[3]; };

extern "C" __global__ void struct_by_value(float* o, Settings s, unsigned char byte)
{
    int i = threadIdx.x;
    o[i] = i < s.count ? i * s.scale + (float)s.shift + s.small[i % 3] : byte;
}

extern "C" __global__ void local_array(const int* in, int* out)
{
    int box[24];
    for (int k = 0; k < 24; ++k) box[k] = in[threadIdx.x] * k;
    for (int k = 0; k < 12; ++k) box[(in[threadIdx.x] + k * 5) % 24] += k;
    int sum = 0;
    for (int k = 0; k < 24; ++k) sum = sum * 3 + box[(k * 7 + threadIdx.x) % 24];
    out[threadIdx.x] = sum;
}

extern "C" __global__ void small_types(const signed char* a, const unsigned short* b, const short* c, short* o, unsigned char* p)
{
    int i = threadIdx.x;
    __shared__ unsigned char bytes[128];
    __shared__ short shorts[128];
    bytes[127 - i] = a[i];
    shorts[i] = c[i] + b[i];
    __syncthreads();
    o[i] = a[i] * 3 + shorts[127 - i];
    p[i] = bytes[i] + (unsigned char)b[i];
}

extern "C" __global__ void vectors(const float4* a, const double2* b, float4* o, double2* p, const short4* c, short4* q)
{
    __shared__ float4 s[64];
    int i = threadIdx.x;
    float4 x = a[i];
    s[63 - i] = make_float4(x.w, x.z, x.y, x.x);
    __syncthreads();
    o[i] = s[i];
    p[i] = make_double2(b[i].y, b[i].x * 2);
    q[i] = make_short4(c[i].w, c[i].x, c[i].y, c[i].z);
}

__device__ __noinline__ float through(float* p, int i) { p[i] += 1.5f; return p[i ^ 1]; }

extern "C" __global__ void generic_pointers(float* g, float* out, int which)
{
    __shared__ float s[64];
    float l[4] = {1, 2, 3, 4};
    int i = threadIdx.x;
    s[i] = i;
    __syncthreads();
    float* p = which == 0 ? g : (i & 32 ? s : g);
    float v = through(p, i);
    __syncthreads();
    if (which == 2) v += through(l, i & 3);
    out[i] = v;
}

extern "C" __global__ void atomics_of_all_kinds(int* i, unsigned* u, float* f, double* d, u64* w, unsigned* old)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    atomicAdd(&i[t % 3], t); atomicSub(&i[3], t); atomicMin(&i[4], -t); atomicMax(&i[5], t * 7 % 101);
    atomicAnd(&u[0], ~(1u << (t & 31))); atomicOr(&u[1], 1u << (t % 20)); atomicXor(&u[2], t);
    old[t] = atomicInc(&u[3], 10); atomicDec(&u[4], 10);
    atomicAdd(&f[t & 1], 0.5f); atomicAdd(&d[t & 1], 0.25);
    atomicAdd(&w[0], (u64)t << 33); atomicMax(&w[1], (u64)t * t); atomicExch(&w[2], 77ull); atomicCAS(&w[3], 0ull, 5ull);
    __shared__ int s[4];
    __shared__ float sf;
    __shared__ u64 sw;
    if (threadIdx.x < 4) s[threadIdx.x] = 0;
    if (threadIdx.x == 0) { sf = 0; sw = 0; }
    __syncthreads();
    atomicAdd(&s[0], 1); atomicMax(&s[1], t); atomicCAS(&s[2], 0, 9); atomicAdd(&s[3], atomicExch(&s[2], 9) == 9);
    atomicAdd(&sf, 2.0f); atomicAdd(&sw, 3ull);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&i[8 + threadIdx.x], s[threadIdx.x]);
    if (threadIdx.x == 0) { atomicAdd(&f[2], sf); atomicAdd(&w[4], sw); }
}

extern "C" __global__ void nested_divergence(const int* in, int* out)
{
    int x = in[threadIdx.x], sum = 0;
    for (int i = 0; i < (x & 7); ++i) {
        if ((x >> i) & 1) {
            for (int j = 0; j < ((x >> 3) & 3); ++j) {
                if (j == 2 && (x & 64)) break;
                sum += i * j + 1;
                if ((sum & 15) == 9) continue;
                sum += x & 3;
            }
        } else if (x & 128) {
            sum -= i;
            if (sum < -5) { out[threadIdx.x] = -1; return; }
        }
        sum = sum * 3 ^ x;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void early_exit(int* out, int n)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (threadIdx.x >= n) return;
    atomicAdd(&total, 1);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Additions of pairs of small floats, which only global memory does by itself.
extern "C" __global__ void packed_atomics(__half2* h, float* out)
{
    __shared__ __half2 s;
    if (threadIdx.x == 0) s = __float2half2_rn(1.0f);
    __syncthreads();
    atomicAdd(h + (threadIdx.x & 1), __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(threadIdx.x < 8 ? &s : h + 2, __floats2half2_rn(0.5f, 4.0f));
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = __low2float(s);
        out[1] = __high2float(s);
    }
}
