// Tensor cores through WMMA and mma, asynchronous copies, matrix loads.
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
using namespace nvcuda;

extern "C" __global__ void wmma_gemm(const __half* a, const __half* b, float* c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + blockIdx.x * 16, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_half(const __half* a, const __half* b, __half* c)
{
    __shared__ __half sa[256], sb[256];
    for (int i = threadIdx.x; i < 256; i += 32) { sa[i] = a[i]; sb[i] = b[i]; }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
    wmma::fill_fragment(fc, __float2half(1.0f));
    wmma::load_matrix_sync(fa, sa, 16);
    wmma::load_matrix_sync(fb, sb, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_int8(const signed char* a, const signed char* b, int* c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void mma_bf16(const unsigned* a, const unsigned* b, float* c)
{
#if __CUDA_ARCH__ >= 800
    int t = threadIdx.x;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[4 * t]), "r"(a[4 * t + 1]), "r"(a[4 * t + 2]), "r"(a[4 * t + 3]), "r"(b[2 * t]), "r"(b[2 * t + 1]));
    c[4 * t] = d0; c[4 * t + 1] = d1; c[4 * t + 2] = d2; c[4 * t + 3] = d3;
#endif
}

extern "C" __global__ void mma_tf32(const unsigned* a, const unsigned* b, float* c)
{
#if __CUDA_ARCH__ >= 800
    int t = threadIdx.x;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
        : "r"(a[4 * t]), "r"(a[4 * t + 1]), "r"(a[4 * t + 2]), "r"(a[4 * t + 3]), "r"(b[2 * t]), "r"(b[2 * t + 1]));
    c[4 * t] = d0; c[4 * t + 1] = d1; c[4 * t + 2] = d2; c[4 * t + 3] = d3;
#endif
}

extern "C" __global__ void mma_double(const double* a, const double* b, double* c)
{
#if __CUDA_ARCH__ >= 800
    int t = threadIdx.x;
    double d0 = 1, d1 = 2;
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d0), "+d"(d1) : "d"(a[t]), "d"(b[t]));
    c[2 * t] = d0; c[2 * t + 1] = d1;
#endif
}

// C = A B with A and B staged by cp.async and read by ldmatrix.
extern "C" __global__ void async_gemm(const __half* a, const __half* b, float* c, int n)
{
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(16) __half sa[2][16 * 16], sb[2][16 * 16];
    int t = threadIdx.x, row = t / 2, half = t % 2;
    const __half* ga = a + (blockIdx.y * 16 + row) * n + half * 8;
    const __half* gb = b + row * n + blockIdx.x * 16 + half * 8;
    __pipeline_memcpy_async(&sa[0][row * 16 + half * 8], ga, 16);
    __pipeline_memcpy_async(&sb[0][row * 16 + half * 8], gb, 16);
    __pipeline_commit();
    float d[8] = {};
    for (int k = 0; k < n / 16; ++k) {
        if (k + 1 < n / 16) {
            __pipeline_memcpy_async(&sa[(k + 1) & 1][row * 16 + half * 8], ga + (k + 1) * 16, 16);
            __pipeline_memcpy_async(&sb[(k + 1) & 1][row * 16 + half * 8], gb + (k + 1) * 16 * n, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        unsigned fa[4], fb[4];
        unsigned pa = __cvta_generic_to_shared(&sa[k & 1][(t % 16) * 16 + (t / 16) * 8]);
        unsigned pb = __cvta_generic_to_shared(&sb[k & 1][(t % 16) * 16 + (t / 16) * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(pa));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(pb));
        for (int h = 0; h < 2; ++h)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(d[4 * h]), "+f"(d[4 * h + 1]), "+f"(d[4 * h + 2]), "+f"(d[4 * h + 3])
                : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
        __syncwarp();
    }
    for (int h = 0; h < 2; ++h)
        for (int r = 0; r < 2; ++r)
            for (int e = 0; e < 2; ++e)
                c[(blockIdx.y * 16 + t / 4 + 8 * r) * n + blockIdx.x * 16 + 8 * h + (t % 4) * 2 + e] = d[4 * h + 2 * r + e];
#endif
}
