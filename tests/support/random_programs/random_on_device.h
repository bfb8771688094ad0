// The device's side of random programs: names for types, and functions that are one intrinsic each.
typedef unsigned char u8; typedef signed char s8; typedef unsigned short u16; typedef short s16;
typedef unsigned int u32; typedef int s32; typedef unsigned long long u64; typedef long long s64;
typedef float f32; typedef double f64; typedef u16 f16; typedef u32 h2; typedef u16 bf; typedef u32 b2;
typedef unsigned __int128 u128; typedef __int128 s128;
#define FN static __device__ __forceinline__
#define APART static __device__ __noinline__
#define CONSTANT __constant__

FN f32 least(f32 a, f32 b) { return fminf(a, b); }
FN f32 most(f32 a, f32 b) { return fmaxf(a, b); }
FN f64 least(f64 a, f64 b) { return fmin(a, b); }
FN f64 most(f64 a, f64 b) { return fmax(a, b); }
FN f32 clamped(f32 x) { return __saturatef(x); }

FN u32 unsigned_zeros(u32 x) { return x & ~((x & 0x7fffu ? 0 : 0x8000u) | (x & 0x7fff0000u ? 0 : 0x80000000u)); }
#ifdef HALVES
#include <cuda_fp16.h>
FN __half H(f16 x) { return __ushort_as_half(x); }
FN f16 U(__half x) { return __half_as_ushort(x); }
FN __half2 P(h2 x) { return __halves2half2(H((f16)x), H((f16)(x >> 16))); }
FN h2 Q(__half2 x) { return (u32)U(__low2half(x)) | (u32)U(__high2half(x)) << 16; }
FN f16 h_add(f16 a, f16 b) { return U(__hadd(H(a), H(b))); }
FN f16 h_sub(f16 a, f16 b) { return U(__hsub(H(a), H(b))); }
FN f16 h_mul(f16 a, f16 b) { return U(__hmul(H(a), H(b))); }
FN f16 h_div(f16 a, f16 b) { return U(__hdiv(H(a), H(b))); }
FN f16 h_fma(f16 a, f16 b, f16 c) { return U(__hfma(H(a), H(b), H(c))); }
FN f16 h_sat(f16 a, f16 b) { return U(__hadd_sat(H(a), H(b))); }
FN f16 h_min(f16 a, f16 b) { return U(__hmin(H(a), H(b))); }
FN f16 h_max(f16 a, f16 b) { return U(__hmax(H(a), H(b))); }
FN f16 h_abs(f16 a) { return U(__habs(H(a))); }
FN f16 h_sqrt(f16 a) { return U(hsqrt(H(a))); }
FN f16 h_floor(f16 a) { return U(hfloor(H(a))); }
FN f16 h_rint(f16 a) { return U(hrint(H(a))); }
FN bool h_lt(f16 a, f16 b) { return __hlt(H(a), H(b)); }
FN bool h_ge(f16 a, f16 b) { return __hge(H(a), H(b)); }
FN bool h_eq(f16 a, f16 b) { return __heq(H(a), H(b)); }
FN bool h_neu(f16 a, f16 b) { return __hneu(H(a), H(b)); }
FN f32 h_float(f16 a) { return __half2float(H(a)); }
FN f16 h_rn(f32 x) { return U(__float2half_rn(x)); }
FN f16 h_rz(f32 x) { return U(__float2half_rz(x)); }
FN f16 h_ru(f32 x) { return U(__float2half_ru(x)); }
FN f16 h_rd(f32 x) { return U(__float2half_rd(x)); }
FN f16 h_of_double(f64 x) { return U(__double2half(x)); }
FN f16 h_of_int(s32 x) { return U(__int2half_rn(x)); }
FN f16 h_of_unsigned(u32 x) { return U(__uint2half_rn(x)); }
FN f16 h_of_short(s16 x) { return U(__short2half_rn(x)); }
FN f16 h_of_long(s64 x) { return U(__ll2half_rn(x)); }
FN h2 h2_add(h2 a, h2 b) { return Q(__hadd2(P(a), P(b))); }
FN h2 h2_sub(h2 a, h2 b) { return Q(__hsub2(P(a), P(b))); }
FN h2 h2_mul(h2 a, h2 b) { return Q(__hmul2(P(a), P(b))); }
FN h2 h2_fma(h2 a, h2 b, h2 c) { return Q(__hfma2(P(a), P(b), P(c))); }
FN h2 h2_sat(h2 a, h2 b, h2 c) { return Q(__hfma2_sat(P(a), P(b), P(c))); }
FN h2 h2_min(h2 a, h2 b) { return Q(__hmin2(P(a), P(b))); }
FN h2 h2_max(h2 a, h2 b) { return Q(__hmax2(P(a), P(b))); }
FN h2 h2_neg(h2 a) { return Q(__hneg2(P(a))); }
FN h2 h2_gt(h2 a, h2 b) { return Q(__hgt2(P(a), P(b))); }
FN bool h2_all_lt(h2 a, h2 b) { return __hblt2(P(a), P(b)); }
FN h2 h2_of_floats(f32 a, f32 b) { return Q(__floats2half2_rn(a, b)); }
FN f16 h_ceil(f16 a) { return U(hceil(H(a))); }
FN f16 h_trunc(f16 a) { return U(htrunc(H(a))); }
FN f16 h_min_nan(f16 a, f16 b) { return U(__hmin_nan(H(a), H(b))); }
FN f16 h_max_nan(f16 a, f16 b) { return U(__hmax_nan(H(a), H(b))); }
FN bool h_gtu(f16 a, f16 b) { return __hgtu(H(a), H(b)); }
FN s32 h_int_rn(f16 a) { return __half2int_rn(H(a)); }
FN u32 h_unsigned_rd(f16 a) { return __half2uint_rd(H(a)); }
FN s16 h_short_rz(f16 a) { return __half2short_rz(H(a)); }
FN u16 h_ushort_ru(f16 a) { return __half2ushort_ru(H(a)); }
FN s64 h_long_rz(f16 a) { return __half2ll_rz(H(a)); }
FN f16 h_of_int_rz(s32 a) { return U(__int2half_rz(a)); }
FN f16 h_of_ushort_ru(u16 a) { return U(__ushort2half_ru(a)); }
FN h2 h2_abs(h2 a) { return Q(__habs2(P(a))); }
FN h2 h2_floor(h2 a) { return Q(h2floor(P(a))); }
FN h2 h2_leu(h2 a, h2 b) { return Q(__hleu2(P(a), P(b))); }
FN h2 h2_gt_mask(h2 a, h2 b) { return __hgt2_mask(P(a), P(b)); }
FN h2 h2_neu_mask(h2 a, h2 b) { return __hneu2_mask(P(a), P(b)); }
FN bool h2_any_ge(h2 a, h2 b) { return __hbge2(P(a), P(b)); }
FN h2 h2_max_nan(h2 a, h2 b) { return Q(__hmax2_nan(P(a), P(b))); }
FN h2 h2_mul_sat(h2 a, h2 b) { return Q(__hmul2_sat(P(a), P(b))); }
FN h2 h2_lows(h2 a, h2 b) { return Q(__lows2half2(P(a), P(b))); }
FN h2 h2_highs(h2 a, h2 b) { return Q(__highs2half2(P(a), P(b))); }
#if __CUDA_ARCH__ >= 800
FN h2 h2_relu(h2 a, h2 b, h2 c) { return unsigned_zeros(Q(__hfma2_relu(P(a), P(b), P(c)))); }
FN f16 h_relu(f16 a, f16 b, f16 c) { return (f16)unsigned_zeros(U(__hfma_relu(H(a), H(b), H(c)))); }
#else
FN f16 h_relu(f16 a, f16 b, f16 c) { f16 r = U(__hfma(H(a), H(b), H(c))); return (r & 0x7fff) > 0x7c00 ? r : r >> 15 ? (f16)0 : r; }
FN h2 h2_relu(h2 a, h2 b, h2 c) { return h_relu((f16)a, (f16)b, (f16)c) | (u32)h_relu((f16)(a >> 16), (f16)(b >> 16), (f16)(c >> 16)) << 16; }
#endif
#endif
#ifdef BFLOATS
#include <cuda_bf16.h>
FN __nv_bfloat16 B(bf x) { return __ushort_as_bfloat16(x); }
FN bf W(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }
FN bf b_add(bf a, bf b) { return W(__hadd(B(a), B(b))); }
FN bf b_sub(bf a, bf b) { return W(__hsub(B(a), B(b))); }
FN bf b_mul(bf a, bf b) { return W(__hmul(B(a), B(b))); }
FN bf b_fma(bf a, bf b, bf c) { return W(__hfma(B(a), B(b), B(c))); }
FN bf b_min(bf a, bf b) { return W(__hmin(B(a), B(b))); }
FN bf b_max(bf a, bf b) { return W(__hmax(B(a), B(b))); }
FN bool b_lt(bf a, bf b) { return __hlt(B(a), B(b)); }
FN bf b_rn(f32 x) { return W(__float2bfloat16_rn(x)); }
FN bf b_rz(f32 x) { return W(__float2bfloat16_rz(x)); }
FN bf b_ru(f32 x) { return W(__float2bfloat16_ru(x)); }
FN bf b_neg(bf a) { return W(__hneg(B(a))); }
FN bf b_abs(bf a) { return W(__habs(B(a))); }
FN bf b_sat(bf a, bf b) { return W(__hadd_sat(B(a), B(b))); }
FN bf b_relu(bf a, bf b, bf c) { return (bf)unsigned_zeros(W(__hfma_relu(B(a), B(b), B(c)))); }
FN bf b_max_nan(bf a, bf b) { return W(__hmax_nan(B(a), B(b))); }
FN bool b_geu(bf a, bf b) { return __hgeu(B(a), B(b)); }
FN bool b_ne(bf a, bf b) { return __hne(B(a), B(b)); }
FN s32 b_int_rz(bf a) { return __bfloat162int_rz(B(a)); }
FN u16 b_ushort_rn(bf a) { return __bfloat162ushort_rn(B(a)); }
FN bf b_of_int(s32 a) { return W(__int2bfloat16_rn(a)); }
FN bf b_of_unsigned_rd(u32 a) { return W(__uint2bfloat16_rd(a)); }
FN bf b_of_short(s16 a) { return W(__short2bfloat16_rn(a)); }
FN bf b_of_double(f64 a) { return W(__double2bfloat16(a)); }
FN __nv_bfloat162 P(b2 x) { return __halves2bfloat162(B((bf)x), B((bf)(x >> 16))); }
FN b2 Q(__nv_bfloat162 x) { return (u32)W(__low2bfloat16(x)) | (u32)W(__high2bfloat16(x)) << 16; }
FN b2 b2_add(b2 a, b2 b) { return Q(__hadd2(P(a), P(b))); }
FN b2 b2_sub(b2 a, b2 b) { return Q(__hsub2(P(a), P(b))); }
FN b2 b2_mul(b2 a, b2 b) { return Q(__hmul2(P(a), P(b))); }
FN b2 b2_fma(b2 a, b2 b, b2 c) { return Q(__hfma2(P(a), P(b), P(c))); }
FN b2 b2_relu(b2 a, b2 b, b2 c) { return unsigned_zeros(Q(__hfma2_relu(P(a), P(b), P(c)))); }
FN b2 b2_min(b2 a, b2 b) { return Q(__hmin2(P(a), P(b))); }
FN b2 b2_max(b2 a, b2 b) { return Q(__hmax2(P(a), P(b))); }
FN b2 b2_gt(b2 a, b2 b) { return Q(__hgt2(P(a), P(b))); }
FN b2 b2_gt_mask(b2 a, b2 b) { return __hgt2_mask(P(a), P(b)); }
FN b2 b2_neg(b2 a) { return Q(__hneg2(P(a))); }
FN b2 b2_abs(b2 a) { return Q(__habs2(P(a))); }
FN bool b2_all_lt(b2 a, b2 b) { return __hblt2(P(a), P(b)); }
FN b2 b2_of_floats(f32 a, f32 b) { return Q(__floats2bfloat162_rn(a, b)); }
#endif

#define BARRIER __syncthreads()
template <class T> FN T sent(u32 m, T x, u32 n, u32 w) { return __shfl_sync(m, x, n, w); }
template <class T> FN T sent_up(u32 m, T x, u32 n, u32 w) { return __shfl_up_sync(m, x, n, w); }
template <class T> FN T sent_down(u32 m, T x, u32 n, u32 w) { return __shfl_down_sync(m, x, n, w); }
template <class T> FN T sent_across(u32 m, T x, u32 n, u32 w) { return __shfl_xor_sync(m, x, n, w); }
FN u32 nth_bit(u32 mask, u32 n);
template <class T> FN T sent_within(u32 m, T x, u32 n, u32) { return __shfl_sync(m, x, nth_bit(m, n)); }
FN u32 together(bool p)
{
    return (u32)__syncthreads_count(p) | (u32)(__syncthreads_and(p) != 0) << 16 | (u32)(__syncthreads_or(p) != 0) << 17;
}
FN u32 ballot(u32 m, u32 x, u32, u32) { return __ballot_sync(m, x & 1); }
FN u32 any_all(u32 m, u32 x, u32 n, u32) { return __any_sync(m, x == n) << 1 | __all_sync(m, x <= n); }
template <class T> FN u32 alike(u32 m, T x, u32, u32) { return __match_any_sync(m, x); }
template <class T> FN u32 all_alike(u32 m, T x, u32, u32) { int p; u32 r = __match_all_sync(m, x, &p); return r ^ p; }
#if __CUDA_ARCH__ >= 800
template <class T> FN T summed(u32 m, T x, u32, u32) { return __reduce_add_sync(m, x); }
template <class T> FN T smallest(u32 m, T x, u32, u32) { return __reduce_min_sync(m, x); }
template <class T> FN T largest(u32 m, T x, u32, u32) { return __reduce_max_sync(m, x); }
FN u32 folded(u32 m, u32 x, u32, u32)
{
    return __reduce_and_sync(m, x) ^ __reduce_or_sync(m, x) ^ __reduce_xor_sync(m, x);
}
#else
template <class T, class G> FN T gathered(u32 m, T x, G g)
{
    T all = 0;
    for (u32 i = 0, first = 1; i < 32; i++)
        if (m >> i & 1) { T y = __shfl_sync(m, x, i); all = first ? y : g(all, y); first = 0; }
    return all;
}
template <class T> FN T summed(u32 m, T x, u32, u32) { return gathered(m, x, [](T a, T b) { return (T)((u32)a + b); }); }
template <class T> FN T smallest(u32 m, T x, u32, u32) { return gathered(m, x, [](T a, T b) { return a < b ? a : b; }); }
template <class T> FN T largest(u32 m, T x, u32, u32) { return gathered(m, x, [](T a, T b) { return a > b ? a : b; }); }
FN u32 folded(u32 m, u32 x, u32, u32)
{
    return gathered(m, x, [](u32 a, u32 b) { return a & b; }) ^ gathered(m, x, [](u32 a, u32 b) { return a | b; })
         ^ gathered(m, x, [](u32 a, u32 b) { return a ^ b; });
}
#endif

// --- lanes that work together over several instructions; always all 32 ---
#define LANE (threadIdx.x & 31)
template <class T> FN T scanned(u32 m, T x, u32, u32)
{
    for (u32 d = 1; d < 32; d *= 2) { T y = __shfl_up_sync(m, x, d); if (LANE >= d) x += y; }
    return x;
}
template <class T> FN T tree(u32 m, T x, u32, u32)
{
    for (u32 d = 16; d; d /= 2) x += __shfl_down_sync(m, x, d);
    return x;
}
template <class T> FN T sorted(u32 m, T x, u32, u32)
{
    for (u32 k = 2; k <= 32; k *= 2)
        for (u32 j = k / 2; j; j /= 2) {
            T y = __shfl_xor_sync(m, x, j);
            bool up = (LANE & k) == 0, first = (LANE & j) == 0;
            x = (up == first) == (y < x) ? y : x;
        }
    return x;
}
FN u32 counted_apart(u32 m, u32 x, u32 n, u32)
{   // one round for each distinct number; who has it counts those below
    u32 r = 0;
    for (u32 left = m; left;) {
        u32 y = __shfl_sync(m, x, __ffs(left) - 1), same = __ballot_sync(m, x == y);
        if (x == y) r = __popc(same & ((1u << LANE) - 1)) * 64 + n;
        left &= ~same;
    }
    return r;
}
FN u32 drained(u32 m, u32 x, u32 n, u32)
{   // lanes give to their neighbours until none has any
    u32 r = n; x &= 15;
    for (u32 i = 0; __any_sync(m, x > 0) && i < 40; i++) {
        u32 y = __shfl_sync(m, x, LANE + 1);
        if (x > 0) { r = r * 3 + y; x--; } else r ^= i;
    }
    return r;
}
FN u32 diverged(u32 m, u32 x, u32 n, u32)
{   // loops of different lengths, then together again
    u32 r = x;
    for (u32 i = 0; i < (n & 7); i++) { r = r * 5 + i; if ((r & 15) == 3) continue; if ((r & 63) == 9) break; r ^= r >> 7; }
    __syncwarp(m);
    return r + __ballot_sync(m, r & 1) + __popc(__ballot_sync(m, (r & 6) == 0));
}
