// The host's side of random programs: what each intrinsic means, in plain C++ and the processor's own arithmetic.
#include <cfenv>
#include <cmath>
#include <cstring>
typedef unsigned char u8; typedef signed char s8; typedef unsigned short u16; typedef short s16;
typedef unsigned int u32; typedef int s32; typedef unsigned long long u64; typedef long long s64;
typedef float f32; typedef double f64; typedef u16 f16; typedef u32 h2; typedef u16 bf; typedef u32 b2;
typedef __float128 exact; typedef unsigned __int128 u128; typedef __int128 s128;
#define FN static inline
#define APART static __attribute__((noinline))
#define CONSTANT static const
struct alignas(16) uint4 { u32 x, y, z, w; };
struct alignas(8) ushort4 { u16 x, y, z, w; };
struct alignas(4) char4 { s8 x, y, z, w; };
struct alignas(8) float2 { f32 x, y; };
struct alignas(16) double2 { f64 x, y; };
static inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }

FN s32 __vimax3_s32(s32 a, s32 b, s32 c) { return a > b ? (a > c ? a : c) : b > c ? b : c; }
FN u32 __vimin3_u32(u32 a, u32 b, u32 c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }
FN s32 __vimin_s32_relu(s32 a, s32 b) { return a < 0 || b < 0 ? 0 : a < b ? a : b; }
template <class To, class From> To same_bits(From x) { To y; memcpy(&y, &x, sizeof y); return y; }
FN u32 __float_as_uint(f32 x) { return same_bits<u32>(x); }
FN f32 __uint_as_float(u32 x) { return same_bits<f32>(x); }
FN s64 __double_as_longlong(f64 x) { return same_bits<s64>(x); }
FN f64 __longlong_as_double(s64 x) { return same_bits<f64>(x); }

FN u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
FN s32 __mulhi(s32 a, s32 b) { return (s32)((s64)a * b >> 32); }
FN u64 __umul64hi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
FN s64 __mul64hi(s64 a, s64 b) { return (s64)((s128)a * b >> 64); }
FN u32 __umul24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
FN s32 __mul24(s32 a, s32 b) { return (s32)((u32)((s32)((u32)a << 8) >> 8) * (u32)((s32)((u32)b << 8) >> 8)); }
FN u32 __sad(s32 a, s32 b, u32 c) { return (a < b ? (u32)b - (u32)a : (u32)a - (u32)b) + c; }
FN u32 __usad(u32 a, u32 b, u32 c) { return (a < b ? b - a : a - b) + c; }
FN s32 __hadd(s32 a, s32 b) { return (s32)(((s64)a + b) >> 1); }
FN s32 __rhadd(s32 a, s32 b) { return (s32)(((s64)a + b + 1) >> 1); }
FN u32 __uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
FN u32 __urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }
FN s32 __popc(u32 x) { return __builtin_popcount(x); }
FN s32 __popcll(u64 x) { return __builtin_popcountll(x); }
FN s32 __clz(s32 x) { return x ? __builtin_clz((u32)x) : 32; }
FN s32 __clzll(s64 x) { return x ? __builtin_clzll((u64)x) : 64; }
FN s32 __ffs(s32 x) { return __builtin_ffs(x); }
FN s32 __ffsll(s64 x) { return __builtin_ffsll(x); }
FN u64 __brevll(u64 x) { u64 y = 0; for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i); return y; }
FN u32 __brev(u32 x) { return (u32)(__brevll(x) >> 32); }
FN u32 __byte_perm(u32 a, u32 b, u32 s)
{
    u64 pair = (u64)b << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; i++) r |= (u32)(pair >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return r;
}
FN u32 __funnelshift_l(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) << (n & 31) >> 32); }
FN u32 __funnelshift_r(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) >> (n & 31)); }
FN u32 __funnelshift_lc(u32 a, u32 b, u32 n) { return n >= 32 ? a : __funnelshift_l(a, b, n); }
FN u32 __funnelshift_rc(u32 a, u32 b, u32 n) { return n >= 32 ? b : __funnelshift_r(a, b, n); }

template <int B, bool S> s64 lane(u32 x, int i)
{
    u32 v = x >> i * B & ((1u << B) - 1);
    return S && v >> (B - 1) ? (s64)v - (1 << B) : v;
}
template <bool S> s64 dot4(u32 a, u32 b) { s64 r = 0; for (int i = 0; i < 4; i++) r += lane<8, S>(a, i) * lane<8, S>(b, i); return r; }
template <bool S> s64 dot2(u32 a, u32 b, int at) { s64 r = 0; for (int i = 0; i < 2; i++) r += lane<16, S>(a, i) * lane<8, S>(b, i + at); return r; }
FN s32 __dp4a(s32 a, s32 b, s32 c) { return (s32)(dot4<true>(a, b) + c); }
FN u32 __dp4a(u32 a, u32 b, u32 c) { return (u32)(dot4<false>(a, b) + c); }
FN s32 __dp2a_lo(s32 a, s32 b, s32 c) { return (s32)(dot2<true>(a, b, 0) + c); }
FN s32 __dp2a_hi(s32 a, s32 b, s32 c) { return (s32)(dot2<true>(a, b, 2) + c); }
FN u32 __dp2a_lo(u32 a, u32 b, u32 c) { return (u32)(dot2<false>(a, b, 0) + c); }
FN u32 __dp2a_hi(u32 a, u32 b, u32 c) { return (u32)(dot2<false>(a, b, 2) + c); }
template <int B, bool S, class G> u32 by_lanes(u32 a, u32 b, G g)
{
    u32 r = 0;
    for (int i = 0; i < 32 / B; i++) r |= ((u32)g(lane<B, S>(a, i), lane<B, S>(b, i)) & ((1u << B) - 1)) << i * B;
    return r;
}
FN s64 between(s64 x, s64 low, s64 high) { return x < low ? low : x > high ? high : x; }
#define BOTH(name, S, args, a, b, E) \
    FN u32 __##name##2 args { enum { B = 16 }; return by_lanes<16, S>(a, b, [](s64 x, s64 y) -> s64 { return E; }); } \
    FN u32 __##name##4 args { enum { B = 8 }; return by_lanes<8, S>(a, b, [](s64 x, s64 y) -> s64 { return E; }); }
#define TWO(name, S, E) BOTH(name, S, (u32 a, u32 b), a, b, E)
#define ONE(name, E) BOTH(name, true, (u32 a), a, a, E)
#define MOST ((1 << (B - 1)) - 1)
TWO(vadd, false, x + y) TWO(vsub, false, x - y)
TWO(vaddss, true, between(x + y, -MOST - 1, MOST)) TWO(vsubss, true, between(x - y, -MOST - 1, MOST))
TWO(vaddus, false, between(x + y, 0, 2 * MOST + 1)) TWO(vsubus, false, between(x - y, 0, 2 * MOST + 1))
TWO(vavgu, false, (x + y + 1) >> 1) TWO(vhaddu, false, (x + y) >> 1)
TWO(vmaxs, true, x > y ? x : y) TWO(vmaxu, false, x > y ? x : y) TWO(vmins, true, x < y ? x : y) TWO(vminu, false, x < y ? x : y)
TWO(vabsdiffs, true, x < y ? y - x : x - y) TWO(vabsdiffu, false, x < y ? y - x : x - y)
ONE(vabs, x + 0 * y < 0 ? -x : x) ONE(vabsss, between(x + 0 * y < 0 ? -x : x, 0, MOST))
ONE(vneg, -x + 0 * y) ONE(vnegss, between(-x + 0 * y, -MOST, MOST))
TWO(vcmpeq, true, -(x == y)) TWO(vcmpne, true, -(x != y)) TWO(vcmpgts, true, -(x > y)) TWO(vcmpgtu, false, -(x > y))
TWO(vcmpges, true, -(x >= y)) TWO(vcmpleu, false, -(x <= y)) TWO(vcmplts, true, -(x < y))
TWO(vseteq, true, x == y) TWO(vsetgtu, false, x > y) TWO(vsetles, true, x <= y)
FN u32 __vimax3_s16x2(u32 a, u32 b, u32 c) { return __vmaxs2(__vmaxs2(a, b), c); }
FN u32 __vimin3_u16x2(u32 a, u32 b, u32 c) { return __vminu2(__vminu2(a, b), c); }
FN u32 __vimax_s16x2_relu(u32 a, u32 b) { return __vmaxs2(__vmaxs2(a, b), 0); }
template <int B, bool S> u32 differences(u32 a, u32 b)
{
    u32 r = 0;
    for (int i = 0; i < 32 / B; i++) r += (u32)llabs(lane<B, S>(a, i) - lane<B, S>(b, i));
    return r;
}
FN u32 __vsads2(u32 a, u32 b) { return differences<16, true>(a, b); }
FN u32 __vsadu2(u32 a, u32 b) { return differences<16, false>(a, b); }
FN u32 __vsads4(u32 a, u32 b) { return differences<8, true>(a, b); }
FN u32 __vsadu4(u32 a, u32 b) { return differences<8, false>(a, b); }

// --- roundings: the processor's, in each direction ---

struct Way { int kept; explicit Way(int way) : kept(fegetround()) { fesetround(way); } ~Way() { fesetround(kept); } };
#define IN(W, T, A, E) { Way way(W); volatile A a = a_, b = b_, c = c_; volatile T r = E; (void)b; (void)c; return r; }
#define WAYS(T, name, A, params, E) \
    FN T name##_rn params IN(FE_TONEAREST, T, A, E) FN T name##_rz params IN(FE_TOWARDZERO, T, A, E) \
    FN T name##_ru params IN(FE_UPWARD, T, A, E) FN T name##_rd params IN(FE_DOWNWARD, T, A, E)
#define ARITHMETIC(T, p, f, fused, root) \
    WAYS(T, __##p##add, T, (T a_, T b_, T c_ = 0), a + b) WAYS(T, __##p##sub, T, (T a_, T b_, T c_ = 0), a - b) \
    WAYS(T, __##p##mul, T, (T a_, T b_, T c_ = 0), a * b) WAYS(T, __##p##div, T, (T a_, T b_, T c_ = 0), a / b) \
    WAYS(T, __##p##rcp, T, (T a_, T b_ = 0, T c_ = 0), 1 / a) WAYS(T, __##p##sqrt, T, (T a_, T b_ = 0, T c_ = 0), root(a)) \
    WAYS(T, f, T, (T a_, T b_, T c_), fused(a, b, c))
ARITHMETIC(f32, f, __fmaf, fmaf, sqrtf)
ARITHMETIC(f64, d, __fma, fma, sqrt)
#define CAST(T, name, A) WAYS(T, name, A, (A a_, A b_ = 0, A c_ = 0), (T)a)
CAST(f32, __int2float, s32) CAST(f32, __uint2float, u32) CAST(f32, __ll2float, s64) CAST(f32, __ull2float, u64)
CAST(f64, __ll2double, s64) CAST(f64, __ull2double, u64) CAST(f32, __double2float, f64)
template <class T> T kept_in(f64 whole)
{
    const f64 end = sizeof(T) == 4 ? 4294967296.0 : 18446744073709551616.0;
    const bool negative = (T)-1 < 0;
    if (whole >= (negative ? end / 2 : end)) return (T)(negative ? (u64)(end / 2) - 1 : (u64)0 - 1);
    if (whole < (negative ? -end / 2 : 0)) return negative ? (T)((u64)1 << (8 * sizeof(T) - 1)) : (T)0;
    return (T)whole;
}
#define WHOLE(T, name, A) \
    FN T name##_rn(A x) { return kept_in<T>(rint((f64)x)); } FN T name##_rz(A x) { return kept_in<T>(trunc((f64)x)); } \
    FN T name##_ru(A x) { return kept_in<T>(ceil((f64)x)); } FN T name##_rd(A x) { return kept_in<T>(floor((f64)x)); }
WHOLE(s32, __float2int, f32) WHOLE(u32, __float2uint, f32) WHOLE(s64, __float2ll, f32) WHOLE(u64, __float2ull, f32)
WHOLE(s32, __double2int, f64) WHOLE(u32, __double2uint, f64) WHOLE(s64, __double2ll, f64) WHOLE(u64, __double2ull, f64)

template <class T> T less_of(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }
template <class T> T more_of(T a, T b) { return a != a ? b : b != b ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
FN f32 least(f32 a, f32 b) { return less_of(a, b); }
FN f64 least(f64 a, f64 b) { return less_of(a, b); }
FN f32 most(f32 a, f32 b) { return more_of(a, b); }
FN f64 most(f64 a, f64 b) { return more_of(a, b); }
FN f32 clamped(f32 x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }
