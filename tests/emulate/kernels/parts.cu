// Parts of a warp, halves, factorisations, divisions and functions of wide types.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const int* in, int* out) {
    auto block = cg::this_thread_block();
    auto t8 = cg::tiled_partition<8>(block);
    int v = in[block.thread_rank()];
    int s = cg::reduce(t8, v, cg::plus<int>());
    int m = cg::reduce(t8, v, cg::greater<int>());
    int e = cg::exclusive_scan(t8, v);
    int i = cg::inclusive_scan(t8, v, cg::greater<int>());
    int a = t8.any(v > 90), l = t8.all(v > 10), b = t8.ballot(v & 1), q = t8.shfl_up(v, 1);
    int* o = out + block.thread_rank() * 8;
    o[0] = s; o[1] = m; o[2] = e; o[3] = i; o[4] = a; o[5] = l; o[6] = b; o[7] = q + t8.meta_group_rank() * 1000;
}
extern "C" __global__ void groups_of_labels(const int* label, int* out, int* counter) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
#if __CUDA_ARCH__ >= 700
    auto same = cg::labeled_partition(warp, label[threadIdx.x]);
    auto odd = cg::binary_partition(warp, label[threadIdx.x] & 1);
    out[threadIdx.x * 4] = same.size();
    out[threadIdx.x * 4 + 1] = same.thread_rank();
    out[threadIdx.x * 4 + 2] = cg::reduce(same, (int)threadIdx.x, cg::plus<int>());
    out[threadIdx.x * 4 + 3] = odd.size();
#endif
    if (label[threadIdx.x] > 2) {     // warp-aggregated atomics
        auto active = cg::coalesced_threads();
        int base;
        if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
        base = active.shfl(base, 0) + active.thread_rank();
        counter[1 + base] = threadIdx.x;
    }
}
extern "C" __global__ void fft4_half2(const __half2* in, __half2* out, int n) {  // 16-point radix-4, one per thread; (re, im)
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    __half2 x[16];
    for (int i = 0; i < 16; ++i) x[i] = in[t * 16 + i];
    auto turn = [](__half2 v) { return __halves2half2(__high2half(v), __hneg(__low2half(v))); };  // times -i
    auto times = [](__half2 v, __half2 w) { return __hcmadd(v, w, __float2half2_rn(0.f)); };
    auto butterfly = [&](__half2& a, __half2& b, __half2& c, __half2& d) {
        __half2 p = __hadd2(a, c), q = __hsub2(a, c), r = __hadd2(b, d), s = turn(__hsub2(b, d));
        a = __hadd2(p, r); b = __hadd2(q, s); c = __hsub2(p, r); d = __hsub2(q, s);
    };
    for (int i = 0; i < 4; ++i) butterfly(x[i], x[i + 4], x[i + 8], x[i + 12]);
    for (int k = 1; k < 4; ++k) for (int i = 1; i < 4; ++i) {
        float angle = -6.283185307f * k * i / 16;
        x[4 * k + i] = times(x[4 * k + i], __floats2half2_rn(__cosf(angle), __sinf(angle)));
    }
    for (int k = 0; k < 4; ++k) butterfly(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
    for (int k = 0; k < 4; ++k) for (int j = 0; j < 4; ++j) out[t * 16 + k + 4 * j] = x[4 * k + j];
}
extern "C" __global__ void cholesky16(float* a) {      // one 16 x 16 matrix per block of 16 x 16 threads
    __shared__ float s[16][17];
    float* m = a + blockIdx.x * 256;
    int i = threadIdx.y, j = threadIdx.x;
    s[i][j] = m[i * 16 + j];
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
        if (i == k && j == k) s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        if (j == k && i > k) s[i][k] /= s[k][k];
        __syncthreads();
        if (i >= j && j > k) s[i][j] -= s[i][k] * s[j][k];
        __syncthreads();
    }
    m[i * 16 + j] = i >= j ? s[i][j] : 0.f;
}
extern "C" __global__ void two_arrays_in_shared(const double* d, const unsigned char* c, double* out, int n) {
    extern __shared__ __align__(16) unsigned char pool[];
    unsigned char* chars = pool;
    double* doubles = (double*)(pool + ((n + 7) & ~7));
    for (int i = threadIdx.x; i < n; i += blockDim.x) { chars[i] = c[i]; doubles[i] = d[i]; }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = doubles[n - 1 - i] * chars[(i * 7) % n];
}
extern "C" __global__ void __launch_bounds__(128, 8) wide_division(const long long* a, const long long* b, long long* q, unsigned long long* r, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (b[i] == 0) continue;
        q[2 * i] = a[i] / b[i]; q[2 * i + 1] = a[i] % b[i];
        r[2 * i] = (unsigned long long)a[i] / (unsigned long long)b[i];
        r[2 * i + 1] = (unsigned long long)a[i] % 1000000007ull;
    }
}
extern "C" __global__ void doubles(const double* x, double* o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    double s, c; sincos(v * 1000, &s, &c);
    double* p = o + i * 14;
    p[0] = s; p[1] = c; p[2] = exp(v); p[3] = log(fabs(v)); p[4] = pow(fabs(v), 1.7); p[5] = tanh(v); p[6] = erf(v); p[7] = lgamma(fabs(v) + 0.5);
    p[8] = atan2(v, 1.5); p[9] = cbrt(v); p[10] = expm1(v * 1e-5); p[11] = rsqrt(fabs(v)); p[12] = fmod(v * 100, 0.7); p[13] = hypot(v, 2.5);
}
