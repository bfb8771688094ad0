// What random programs have found: each kernel was once executed wrongly, or refused.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__constant__ double steps[8] = {1, 2, 4, 8, 16, 32, 64, 128};

extern "C" __global__ void constant_pointers(const double* other, double* out)
{
    int t = threadIdx.x;
    const double* from = other[t] > 0.5 ? other : steps;
    out[t] = from[t & 7] + steps[t & 3];
}

extern "C" __global__ void zeros_downward(const float* a, const double* b, float* f, double* d)
{
    int t = threadIdx.x;
    float x = a[t];
    double y = b[t];
    f[3 * t] = __fsub_rd(x, x); f[3 * t + 1] = __fmaf_rd(x, 2.0f, -x * 2.0f); f[3 * t + 2] = __fsub_ru(x, x);
    d[5 * t] = __dsub_rd(y, y); d[5 * t + 1] = __fma_rd(y, 0.0, -0.0); d[5 * t + 2] = __dmul_rd(y, 0.0);
    d[5 * t + 3] = __dadd_rz(y * 1e308, y * 1e308); d[5 * t + 4] = __dadd_ru(-y * 1e308, -y * 1e308);
}

extern "C" __global__ void printed_numbers(double* out, unsigned* bits)
{
    int t = threadIdx.x;
    out[4 * t] = __drcp_rn(1.0) + t;
    out[4 * t + 1] = __ll2float_rd(0x72ec000000000000ll) + t;
    out[4 * t + 2] = __drcp_rn(-3.0) + t;
    out[4 * t + 3] = __ull2double_rz(0x8000000000000000ull) + t;
    bits[2 * t] = __half_as_ushort(hfloor(__ushort_as_half(0x3bd5))) + t;
    bits[2 * t + 1] = __half_as_ushort(__float2half_rd(-0.82565170526504516602f)) + t;
}

extern "C" __global__ void three_parts(const unsigned* in, unsigned* out)
{
    int t = threadIdx.x;
    unsigned a = in[t], b = in[t + 64], c = in[t + 128], *o = out + 16 * t;
    bool p, q;
    o[0] = __vimax3_s16x2(a, b, c); o[1] = __vimin3_u16x2(a, b, c); o[2] = __vimax3_s16x2_relu(a, b, c);
    o[3] = __viaddmax_s16x2(a, b, c); o[4] = __viaddmin_u16x2(a, b, c); o[5] = __viaddmax_s16x2_relu(a, b, c);
    o[6] = __vibmax_s16x2(a, b, &p, &q); o[7] = p << 1 | q;
    o[8] = __vibmin_u16x2(a, b, &p, &q); o[9] = p << 1 | q;
    o[10] = __vimax3_s32_relu(a, b, c); o[11] = __vimin_s32_relu(a, b); o[12] = __viaddmin_s32_relu(a >> 2, b >> 2, c);
    o[13] = 18;
    if (t & 1) o[13] = __vsadu4(0, 18);
}

extern "C" __global__ void small_bfloats(const float* in, unsigned short* out)
{
    int t = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16_rz(in[t]), b = __float2bfloat16_rz(in[t + 32]), c = __float2bfloat16_rz(in[t + 64]);
    out[4 * t] = __bfloat16_as_ushort(a);
    out[4 * t + 1] = __bfloat16_as_ushort(__hmin(__hmin(a, b), c));
    out[4 * t + 2] = __bfloat16_as_ushort(__hmax_nan(__hmax_nan(a, b), c));
    __half2 x = __floats2half2_rn(in[t], in[t + 32]), y = __floats2half2_rn(in[t + 64], 0.5f), z = __floats2half2_rn(-1.5f, in[t]);
    x = __hmin2(__hmin2(x, y), z);
    out[4 * t + 3] = __half_as_ushort(__low2half(x)) ^ __half_as_ushort(__high2half(x));
}

static __device__ __noinline__ int summed(const int* in, int n)
{
    int box[8];
    for (int i = 0; i < 8; i++) box[i] = in[i] + n;
    return box[n & 7] + box[in[0] & 7];
}

extern "C" __global__ void on_a_stack(const int* in, int* out) { out[threadIdx.x] = summed(in, threadIdx.x); }
