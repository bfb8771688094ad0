// What random programs call, in words that a GPU's compiler and the host's take alike. FN marks a function.
FN s32 lesser(s32 a, s32 b) { return a < b ? a : b; }
FN u32 lesser(u32 a, u32 b) { return a < b ? a : b; }
FN s64 lesser(s64 a, s64 b) { return a < b ? a : b; }
FN u64 lesser(u64 a, u64 b) { return a < b ? a : b; }
FN s16 lesser(s16 a, s16 b) { return a < b ? a : b; }
FN u8 lesser(u8 a, u8 b) { return a < b ? a : b; }
FN s32 greater(s32 a, s32 b) { return a > b ? a : b; }
FN u32 greater(u32 a, u32 b) { return a > b ? a : b; }
FN s64 greater(s64 a, s64 b) { return a > b ? a : b; }
FN u64 greater(u64 a, u64 b) { return a > b ? a : b; }
FN u16 greater(u16 a, u16 b) { return a > b ? a : b; }
FN s8 greater(s8 a, s8 b) { return a > b ? a : b; }
FN u32 distance(s32 a, s32 b) { return a < b ? (u32)b - (u32)a : (u32)a - (u32)b; }
FN u64 distance(s64 a, s64 b) { return a < b ? (u64)b - (u64)a : (u64)a - (u64)b; }
FN u32 rotated(u32 x, u32 n) { return x << (n & 31) | x >> (-n & 31); }
FN u64 rotated(u64 x, u32 n) { return x << (n & 63) | x >> (-n & 63); }
FN u32 divided(u32 a, u32 b) { return b == 0 ? a : a / b; }
FN u64 divided(u64 a, u64 b) { return b == 0 ? a : a / b; }
FN s32 divided(s32 a, s32 b) { return b == 0 || b == -1 ? (s32)(0 - (u32)a) : a / b; }
FN s64 divided(s64 a, s64 b) { return b == 0 || b == -1 ? (s64)(0 - (u64)a) : a / b; }
FN s16 divided(s16 a, s16 b) { return b == 0 ? a : (s16)(a / b); }
FN u8 divided(u8 a, u8 b) { return b == 0 ? a : (u8)(a / b); }
FN u32 rest(u32 a, u32 b) { return b == 0 ? a : a % b; }
FN u64 rest(u64 a, u64 b) { return b == 0 ? a : a % b; }
FN s32 rest(s32 a, s32 b) { return b == 0 || b == -1 ? 0 : a % b; }
FN s64 rest(s64 a, s64 b) { return b == 0 || b == -1 ? 0 : a % b; }
FN s8 rest(s8 a, s8 b) { return b == 0 ? a : (s8)(a % b); }
FN u16 rest(u16 a, u16 b) { return b == 0 ? a : (u16)(a % b); }
FN u32 field(u32 x, u32 at, u32 n) { return x >> (at & 31) & ((1u << (n & 31)) - 1); }
FN u64 field(u64 x, u32 at, u32 n) { return x >> (at & 63) & (((u64)1 << (n & 63)) - 1); }
FN s32 field(s32 x, u32 at, u32 n) { return (s32)((u32)x << (at & 31)) >> (n & 31); }
FN u32 inserted(u32 x, u32 y, u32 at, u32 n)
{
    u32 mask = ((1u << (n & 31)) - 1) << (at & 31);
    return (x & ~mask) | (y << (at & 31) & mask);
}
FN s32 limited(s32 x, s32 low, s32 high) { return x < low ? low : x > high ? high : x; }
FN u32 carried(u32 a, u32 b, u32 c) { u64 sum = ((u64)a << 32 | b) + ((u64)c << 32 | a); return (u32)(sum >> 32) ^ (u32)sum; }
FN u64 high_of_128(u64 a, u64 b) { u64 low = a * b; return __umul64hi(a, b) + (low + a < low); }
FN s32 sum_of_three(s32 a, s32 b, s32 c) { return (s32)((u32)a - (u32)b + (u32)c); }
FN u64 wide(u32 a, u32 b) { return (u64)a * b; }
FN s64 wide(s32 a, s32 b) { return (s64)a * b; }
FN u64 wide_sum(u32 a, u32 b, u64 c) { return (u64)a * b + c; }
FN s64 wide_sum(s32 a, s32 b, s64 c) { return (s64)((u64)((s64)a * b) + (u64)c); }

FN u64 product_128(u64 a, u64 b, u64 c) { u128 p = (u128)a * b + c; return (u64)(p >> 64) ^ (u64)p; }
FN u64 divided_128(u64 a, u64 b, u64 c) { u128 p = (u128)a << 64 | b; return (u64)(p / (c | 1)) + (u64)(p % (c | 1) >> 3); }
FN s64 shifted_128(s64 a, u64 b, u32 n) { s128 p = (s128)a * 3 + (s128)b; return (s64)(p >> (n & 127)) + (p < (s128)b); }
FN s32 sum_with_limits(s32 a, s32 b) { s64 s = (s64)a + b; return s > 2147483647 ? 2147483647 : s < -2147483648ll ? (s32)0x80000000 : (s32)s; }
FN u32 any_of_bits(u32 a, u32 b, u32 c) { return (a & b) ^ (~b | c); }
FN u32 other_of_bits(u32 a, u32 b, u32 c) { return ((a ^ b) & ~c) | (b & c); }
FN u32 first_bit(u32 x) { return x & -x; }

FN u32 bits(f32 x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
FN u64 bits(f64 x) { return x != x ? 0x7ff8000000000000ull : (u64)__double_as_longlong(x); }
FN f32 as_float(u32 x) { return __uint_as_float(x); }
FN f64 as_double(u64 x) { return __longlong_as_double((s64)x); }
FN f32 as_usual(u32 x) { return __uint_as_float((x & 0x83ffffffu) + 0x3d000000u); }
FN f64 as_usual(u64 x) { return __longlong_as_double((s64)((x & 0x803fffffffffffffull) + 0x3fd0000000000000ull)); }
FN f32 number(f32 x) { return x != x ? 0.0f : x; }
FN f64 number(f64 x) { return x != x ? 0.0 : x; }
FN f32 within(f32 x) { return x >= 0 && x <= 127 ? x : 5.5f; }
FN f64 within(f64 x) { return x >= 0 && x <= 127 ? x : 7.5; }
FN bool is_nan(f32 x) { return x != x; }
FN bool is_nan(f64 x) { return x != x; }
FN bool is_infinite(f32 x) { return fabsf(x) == as_float(0x7f800000u); }
FN bool is_finite(f64 x) { return fabs(x) < as_double(0x7ff0000000000000ull); }
FN bool unordered(f32 a, f32 b) { return a != a || b != b; }
FN f32 signed_as(f32 x, f32 y) { return copysignf(x, bits(y) >> 31 ? -1.0f : 1.0f); }
FN f64 signed_as(f64 x, f64 y) { return copysign(x, bits(y) >> 63 ? -1.0 : 1.0); }
FN f32 scaled(f32 x, s32 n) { return scalbnf(x, n % 200); }
FN f64 scaled(f64 x, s32 n) { return scalbn(x, n % 1500); }
FN f64 clamped(f64 x) { return x > 0 ? x < 1 ? x : 1.0 : 0.0; }
FN s32 exponent(f32 x) { return x == 0 || !(fabsf(x) < as_float(0x7f800000u)) ? 99 : ilogbf(x); }
FN f32 fraction(f32 x) { int e = 0; f32 part = x; if (fabsf(x) < as_float(0x7f800000u)) part = frexpf(x, &e); return part + e; }

FN u32 h_bits(f16 x) { return (x & 0x7fff) > 0x7c00 ? 0x7fff : x; }
FN f16 h_of_bits(u32 x) { return (f16)x; }
FN f16 h_neg(f16 x) { return x ^ 0x8000; }
FN h2 h2_pair(f16 a, f16 b) { return (u32)a | (u32)b << 16; }
FN f16 h2_low(h2 x) { return (f16)x; }
FN f16 h2_high(h2 x) { return (f16)(x >> 16); }
FN h2 h2_swapped(h2 x) { return x << 16 | x >> 16; }
FN u32 h2_bits(h2 x) { return h_bits((f16)x) | h_bits((f16)(x >> 16)) << 16; }
FN f32 b_float(bf x) { return __uint_as_float((u32)x << 16); }
FN bf b_of_bits(u32 x) { return (bf)x; }
FN b2 b2_pair(bf a, bf b) { return (u32)a | (u32)b << 16; }
FN bf b2_low(b2 x) { return (bf)x; }
FN bf b2_high(b2 x) { return (bf)(x >> 16); }
FN u32 b_bits(bf x) { return (x & 0x7fff) > 0x7f80 ? 0x7fff : x; }

FN u32 b2_bits(b2 x) { return b_bits((bf)x) | b_bits((bf)(x >> 16)) << 16; }

FN u64 shown(u8 x) { return x; }
FN u64 shown(s8 x) { return (u64)x; }
FN u64 shown(u16 x) { return x; }
FN u64 shown(s16 x) { return (u64)x; }
FN u64 shown(u32 x) { return x; }
FN u64 shown(s32 x) { return (u64)x; }
FN u64 shown(u64 x) { return x; }
FN u64 shown(s64 x) { return (u64)x; }
FN u64 shown(bool x) { return x; }
FN u64 shown(f32 x) { return bits(x); }
FN u64 shown(f64 x) { return bits(x); }
FN u32 nth_bit(u32 mask, u32 n)
{
    n %= (u32)__popc(mask);
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1 && n-- == 0) return i;
    return 0;
}
FN u32 swapped_if(u32* place, u32 before, u32 after) { return atomicCAS(place, before, after); }
FN void multiply_at(u32* place, u32 by)
{
    for (u32 seen = *(volatile u32*)place, found;; seen = found)
        if ((found = swapped_if(place, seen, seen * (by | 1))) == seen) break;
}
FN void multiply_at(u64* place, u64 by)
{
    for (u64 seen = *(volatile u64*)place, found;; seen = found)
        if ((found = atomicCAS(place, seen, seen * (by | 1))) == seen) break;
}
