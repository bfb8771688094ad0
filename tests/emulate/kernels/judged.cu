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

#define PTX(code, constraint, type, ...) ([&] { type r; asm(code : constraint(r) : __VA_ARGS__); return r; }())
#define NARROW(kind, from, letter, value) \
    PTX("{ .reg ." kind " t; cvt." from " t, %1; cvt.s32." kind " %0, t; }", "=r", int, letter(value))

extern "C" __global__ void nearest_integers(const int* in, const float* floats, int* out, int same)
{
    int t = threadIdx.x, a = in[t], b = in[t + 32], *o = out + 16 * t;
    float x = floats[t];
    o[0] = NARROW("u8", "sat.u8.s32", "r", a); o[1] = NARROW("s8", "sat.s8.s32", "r", a);
    o[2] = PTX("cvt.sat.u16.s32 %0, %1;", "=h", unsigned short, "r"(a));
    o[3] = PTX("cvt.sat.s16.s32 %0, %1;", "=h", short, "r"(a));
    o[4] = NARROW("u8", "sat.u8.s32", "r", same);
    o[5] = PTX("cvt.pack.sat.u16.s32 %0, %1, %2;", "=r", int, "r"(a), "r"(b));
    o[6] = PTX("cvt.pack.sat.s16.s32 %0, %1, %2;", "=r", int, "r"(a), "r"(b));
    o[7] = PTX("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;", "=r", int, "r"(a), "r"(b), "r"(t));
    o[8] = PTX("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;", "=r", int, "r"(a), "r"(same), "r"(b));
    o[9] = PTX("cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;", "=r", int, "r"(a), "r"(b), "r"(same));
    o[10] = PTX("cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;", "=r", int, "r"(a), "r"(b), "r"(b));
    o[11] = NARROW("u8", "rni.sat.u8.f32", "f", x); o[12] = NARROW("s8", "rmi.sat.s8.f32", "f", x);
    o[13] = PTX("cvt.rpi.sat.u16.f32 %0, %1;", "=h", unsigned short, "f"(x));
    o[14] = NARROW("s8", "rzi.sat.s8.f32", "f", x);
    o[15] = PTX("add.sat.s32 %0, %1, %2;", "=r", int, "r"(same), "r"(2147483000));
}

extern "C" __global__ void signs_of_both(const float* in, float* out)
{
#if __CUDA_ARCH__ >= 860
    int t = threadIdx.x;
    float a = in[t], b = in[t + 32], *o = out + 4 * t;
    o[0] = PTX("min.xorsign.abs.f32 %0, %1, %2;", "=f", float, "f"(a), "f"(b));
    o[1] = PTX("max.xorsign.abs.f32 %0, %1, %2;", "=f", float, "f"(a), "f"(b));
    o[2] = PTX("max.NaN.xorsign.abs.f32 %0, %1, %2;", "=f", float, "f"(a), "f"(-0.5f));
    o[3] = PTX("min.ftz.xorsign.abs.f32 %0, %1, %2;", "=f", float, "f"(a), "f"(1e-39f));
#endif
}

extern "C" __global__ void bfloat_ways(const int* in, const float* floats, unsigned short* out)
{
    int t = threadIdx.x, a = in[t];
    float x = floats[t];
    unsigned short* o = out + 10 * t;
    o[0] = __bfloat16_as_ushort(__int2bfloat16_rn(a)); o[1] = __bfloat16_as_ushort(__int2bfloat16_rz(a));
    o[2] = __bfloat16_as_ushort(__int2bfloat16_rd(a)); o[3] = __bfloat16_as_ushort(__int2bfloat16_ru(a));
    o[4] = __bfloat16_as_ushort(__short2bfloat16_rn(a)); o[5] = __bfloat16_as_ushort(__ull2bfloat16_ru(a));
    o[6] = __bfloat16_as_ushort(__float2bfloat16_rd(x)); o[7] = __bfloat16_as_ushort(__float2bfloat16_ru(x));
    o[8] = __bfloat162short_rz(__float2bfloat16_rn(x)); o[9] = __bfloat162ushort_ru(__float2bfloat16_rn(x));
}

#define PAIR(low, high) PTX("mov.b64 %0, {%1, %2};", "=l", unsigned long long, "f"(low), "f"(high))
#define OF_TWO(code, p, q) PTX(code " %0, %1, %2;", "=l", unsigned long long, "l"(p), "l"(q))
#define OF_THREE(code, p, q, r) PTX(code " %0, %1, %2, %3;", "=l", unsigned long long, "l"(p), "l"(q), "l"(r))

extern "C" __global__ void pairs_of_floats(const unsigned long long* in, const float* floats, unsigned long long* out, float s)
{
#if __CUDA_ARCH__ >= 1000
    int t = threadIdx.x;
    unsigned long long n = in[t], *o = out + 9 * t;
    float a = floats[t], b = floats[t + 32];
    o[0] = OF_TWO("add.rn.f32x2", n, PAIR(-b, a)); o[1] = OF_THREE("fma.rn.f32x2", PAIR(a, b), n, PAIR(-b, a));
    o[2] = OF_THREE("fma.rn.f32x2", PAIR(a, a), PAIR(-b, -a), n); o[3] = OF_TWO("mul.rp.ftz.f32x2", PAIR(a, a), n);
    o[4] = OF_TWO("add.rm.f32x2", PAIR(a, a), PAIR(-b, -b)); o[5] = OF_THREE("fma.rz.f32x2", PAIR(a, a), PAIR(-b, -a), n);
    o[6] = OF_THREE("fma.rn.f32x2", PAIR(s, s), n, PAIR(-s, s + 1));
    o[7] = OF_THREE("fma.rn.f32x2", PAIR(-fabsf(a), fabsf(b)), n, PAIR(s, 2.5f));
    o[8] = OF_THREE("fma.rn.f32x2", n, PAIR(-1.0f, 1.0f), PAIR(2.5f, 2.5f));
#endif
}

static __device__ __noinline__ unsigned walked(unsigned* box, unsigned n, unsigned x)
{
    for (unsigned i = 0; i < n; i++) { unsigned k = (x ^ i) & 7; x = x * 69069 + box[k]; box[(k + n) & 7] ^= x; }
    return x;
}

extern "C" __global__ void walks(const unsigned* in, unsigned* boxes, unsigned* out, unsigned n)
{
    int t = threadIdx.x;
    unsigned x = in[t];
    if (x & 7) x = walked(boxes + 8 * t, n, x);
    out[t] = in[x & 31] + x;
}
