// Functions that are one PTX instruction on the device; the host does bit by bit what the manual says of it.
#ifdef __CUDACC_RTC__
#define PTX1(T, o, name, code, A, a) FN T name(A x) { T r; asm(code " %0, %1;" : o(r) : a(x)); return r; }
#define PTX2(T, o, name, code, A, a, B, b) \
    FN T name(A x, B y) { T r; asm(code " %0, %1, %2;" : o(r) : a(x), b(y)); return r; }
#define PTX3(T, o, name, code, A, a, B, b, C, c) \
    FN T name(A x, B y, C z) { T r; asm(code " %0, %1, %2, %3;" : o(r) : a(x), b(y), c(z)); return r; }
#define PTX4(T, o, name, code, A, a, B, b, C, c, D, d) \
    FN T name(A x, B y, C z, D w) { T r; asm(code " %0, %1, %2, %3, %4;" : o(r) : a(x), b(y), c(z), d(w)); return r; }
PTX3(u32, "=r", cut_out, "bfe.u32", u32, "r", u32, "r", u32, "r") PTX3(s32, "=r", cut_out, "bfe.s32", s32, "r", u32, "r", u32, "r")
PTX3(u64, "=l", cut_out, "bfe.u64", u64, "l", u32, "r", u32, "r") PTX3(s64, "=l", cut_out, "bfe.s64", s64, "l", u32, "r", u32, "r")
PTX4(u32, "=r", put_in, "bfi.b32", u32, "r", u32, "r", u32, "r", u32, "r")
PTX4(u64, "=l", put_in, "bfi.b64", u64, "l", u64, "l", u32, "r", u32, "r")
PTX3(u32, "=r", bytes_of, "prmt.b32", u32, "r", u32, "r", u32, "r") PTX3(u32, "=r", bytes_f4e, "prmt.b32.f4e", u32, "r", u32, "r", u32, "r")
PTX3(u32, "=r", bytes_b4e, "prmt.b32.b4e", u32, "r", u32, "r", u32, "r") PTX3(u32, "=r", bytes_rc8, "prmt.b32.rc8", u32, "r", u32, "r", u32, "r")
PTX3(u32, "=r", bytes_ecl, "prmt.b32.ecl", u32, "r", u32, "r", u32, "r") PTX3(u32, "=r", bytes_ecr, "prmt.b32.ecr", u32, "r", u32, "r", u32, "r")
PTX3(u32, "=r", bytes_rc16, "prmt.b32.rc16", u32, "r", u32, "r", u32, "r")
PTX1(u32, "=r", highest, "bfind.u32", u32, "r") PTX1(u32, "=r", highest, "bfind.s32", s32, "r")
PTX1(u32, "=r", highest, "bfind.u64", u64, "l") PTX1(u32, "=r", highest, "bfind.s64", s64, "l")
PTX1(u32, "=r", to_highest, "bfind.shiftamt.u32", u32, "r") PTX1(u32, "=r", to_highest, "bfind.shiftamt.s64", s64, "l")
PTX2(s32, "=r", sum_kept, "add.sat.s32", s32, "r", s32, "r") PTX2(s32, "=r", difference_kept, "sub.sat.s32", s32, "r", s32, "r")
PTX3(u32, "=r", high_sum, "mad.hi.u32", u32, "r", u32, "r", u32, "r") PTX3(s32, "=r", high_sum, "mad.hi.s32", s32, "r", s32, "r", s32, "r")
PTX3(u64, "=l", high_sum, "mad.hi.u64", u64, "l", u64, "l", u64, "l") PTX3(s64, "=l", high_sum, "mad.hi.s64", s64, "l", s64, "l", s64, "l")
PTX3(u32, "=r", high_24, "mad24.hi.u32", u32, "r", u32, "r", u32, "r") PTX3(s32, "=r", high_24, "mad24.hi.s32", s32, "r", s32, "r", s32, "r")
PTX2(u32, "=r", moved_left, "shl.b32", u32, "r", u32, "r") PTX2(u64, "=l", moved_left, "shl.b64", u64, "l", u32, "r")
PTX2(u32, "=r", moved_right, "shr.u32", u32, "r", u32, "r") PTX2(s32, "=r", moved_right, "shr.s32", s32, "r", u32, "r")
PTX2(u64, "=l", moved_right, "shr.u64", u64, "l", u32, "r") PTX2(s64, "=l", moved_right, "shr.s64", s64, "l", u32, "r")
PTX2(s32, "=r", extended, "szext.wrap.s32", s32, "r", u32, "r")
PTX2(u32, "=r", extended, "szext.wrap.u32", u32, "r", u32, "r")
PTX2(u32, "=r", ones, "bmsk.clamp.b32", u32, "r", u32, "r") PTX2(u32, "=r", ones_wrap, "bmsk.wrap.b32", u32, "r", u32, "r")
PTX3(u32, "=r", chosen, "slct.u32.s32", u32, "r", u32, "r", s32, "r") PTX3(u64, "=l", chosen, "slct.u64.f32", u64, "l", u64, "l", f32, "f")
PTX2(u32, "=r", mask_less, "set.lt.u32.s32", s32, "r", s32, "r") PTX2(f32, "=f", one_if_more, "set.gtu.f32.f32", f32, "f", f32, "f")
PTX2(u32, "=r", mask_more, "set.ge.u32.u64", u64, "l", u64, "l")
PTX3(s32, "=r", dot_su, "dp4a.s32.u32", s32, "r", u32, "r", s32, "r") PTX3(s32, "=r", dot_us, "dp4a.u32.s32", u32, "r", s32, "r", s32, "r")
PTX3(s32, "=r", dot2_su, "dp2a.lo.s32.u32", s32, "r", u32, "r", s32, "r") PTX3(s32, "=r", dot2_us, "dp2a.hi.u32.s32", u32, "r", s32, "r", s32, "r")
#define LOGIC(lut) FN u32 logic_##lut(u32 x, u32 y, u32 z) { u32 r; asm("lop3.b32 %0, %1, %2, %3, " #lut ";" : "=r"(r) : "r"(x), "r"(y), "r"(z)); return r; }
FN u32 sum_96(u32 a, u32 b, u32 c, u32 d)
{
    u32 x, y, z;
    asm("{ .reg .u32 p, q; add.cc.u32 p, %3, %4; addc.cc.u32 q, %5, %6; addc.u32 %2, %3, %6; mov.u32 %0, p; mov.u32 %1, q; }" : "=r"(x), "=r"(y), "=r"(z) : "r"(a), "r"(b), "r"(c), "r"(d));
    return x ^ y << 1 ^ z << 2;
}
FN u32 difference_96(u32 a, u32 b, u32 c, u32 d)
{
    u32 x, y, z;
    asm("{ .reg .u32 p, q; sub.cc.u32 p, %3, %4; subc.cc.u32 q, %5, %6; subc.u32 %2, %3, %6; mov.u32 %0, p; mov.u32 %1, q; }" : "=r"(x), "=r"(y), "=r"(z) : "r"(a), "r"(b), "r"(c), "r"(d));
    return x ^ y << 1 ^ z << 2;
}
FN u64 product_96(u32 a, u32 b, u32 c, u32 d)
{
    u32 x, y, z;
    asm("{ .reg .u32 p, q; mad.lo.cc.u32 p, %3, %4, %5; madc.hi.cc.u32 q, %3, %4, %6; addc.u32 %2, %5, 0; mov.u32 %0, p; mov.u32 %1, q; }"
        : "=r"(x), "=r"(y), "=r"(z) : "r"(a), "r"(b), "r"(c), "r"(d));
    return ((u64)y << 32 | x) ^ (u64)z << 7;
}
FN u64 product_64_128(u64 a, u64 b, u64 c, u64 d)
{
    u64 x, y;
    asm("{ .reg .u64 p; mad.lo.cc.u64 p, %2, %3, %4; madc.hi.u64 %1, %2, %3, %5; mov.u64 %0, p; }" : "=l"(x), "=l"(y) : "l"(a), "l"(b), "l"(c), "l"(d));
    return x ^ y << 1;
}
FN u32 kept_u8(s32 x) { u32 r; asm("{ .reg .u8 t; cvt.sat.u8.s32 t, %1; cvt.u32.u8 %0, t; }" : "=r"(r) : "r"(x)); return r; }
FN s32 kept_s8(s32 x) { s32 r; asm("{ .reg .s8 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "r"(x)); return r; }
FN s32 kept_s8(u32 x) { s32 r; asm("{ .reg .s8 t; cvt.sat.s8.u32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "r"(x)); return r; }
PTX1(u16, "=h", kept_u16, "cvt.sat.u16.s32", s32, "r") PTX1(s16, "=h", kept_s16, "cvt.sat.s16.s32", s32, "r")
PTX1(u16, "=h", kept_u16, "cvt.sat.u16.s64", s64, "l") PTX1(u32, "=r", kept_u32, "cvt.sat.u32.s64", s64, "l")
PTX1(s32, "=r", kept_s32, "cvt.sat.s32.u64", u64, "l") PTX1(u64, "=l", kept_u64, "cvt.sat.u64.s32", s32, "r")
PTX1(u16, "=h", whole_u16, "cvt.rni.sat.u16.f32", f32, "f") PTX1(s16, "=h", whole_s16, "cvt.rzi.sat.s16.f64", f64, "d")
FN u32 whole_u8(f32 x) { u32 r; asm("{ .reg .u8 t; cvt.rni.sat.u8.f32 t, %1; cvt.u32.u8 %0, t; }" : "=r"(r) : "f"(x)); return r; }
FN s32 whole_s8(f32 x) { s32 r; asm("{ .reg .s8 t; cvt.rmi.sat.s8.f32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(r) : "f"(x)); return r; }
PTX2(f32, "=f", sum_in_1, "add.sat.f32", f32, "f", f32, "f") PTX2(f32, "=f", product_in_1, "mul.sat.f32", f32, "f", f32, "f")
PTX3(f32, "=f", fused_in_1, "fma.rn.sat.f32", f32, "f", f32, "f", f32, "f")
PTX2(f32, "=f", add_flushed, "add.ftz.f32", f32, "f", f32, "f") PTX2(f32, "=f", mul_flushed, "mul.ftz.f32", f32, "f", f32, "f")
PTX3(f32, "=f", fma_flushed, "fma.rn.ftz.f32", f32, "f", f32, "f", f32, "f") PTX2(f32, "=f", min_flushed, "min.ftz.f32", f32, "f", f32, "f")
PTX2(f32, "=f", max_flushed, "max.ftz.f32", f32, "f", f32, "f") PTX1(f32, "=f", abs_flushed, "abs.ftz.f32", f32, "f")
PTX2(f32, "=f", div_flushed, "div.rn.ftz.f32", f32, "f", f32, "f") PTX1(f32, "=f", sqrt_flushed, "sqrt.rn.ftz.f32", f32, "f")
PTX1(f32, "=f", whole_flushed, "cvt.rni.ftz.f32.f32", f32, "f") PTX2(u32, "=r", less_flushed, "set.lt.ftz.u32.f32", f32, "f", f32, "f")
PTX1(f64, "=d", wide_flushed, "cvt.ftz.f64.f32", f32, "f") PTX1(f32, "=f", narrow_flushed, "cvt.rn.ftz.f32.f64", f64, "d")
#if __CUDA_ARCH__ >= 800
PTX2(f32, "=f", least_or_nan, "min.NaN.f32", f32, "f", f32, "f") PTX2(f32, "=f", most_or_nan, "max.NaN.f32", f32, "f", f32, "f")
#else
FN f32 least_or_nan(f32 x, f32 y) { return x != x || y != y ? x + y : fminf(x, y); }
FN f32 most_or_nan(f32 x, f32 y) { return x != x || y != y ? x + y : fmaxf(x, y); }
#endif
#if __CUDA_ARCH__ >= 860
PTX2(f32, "=f", least_xor, "min.xorsign.abs.f32", f32, "f", f32, "f") PTX2(f32, "=f", most_xor, "max.NaN.xorsign.abs.f32", f32, "f", f32, "f")
#else
FN f32 least_xor(f32 x, f32 y)
{
    if (x != x && y != y) return x;
    f32 r = fminf(fabsf(x), fabsf(y));
    return __uint_as_float(__float_as_uint(r) & 0x7fffffffu | (__float_as_uint(x) ^ __float_as_uint(y)) & 0x80000000u);
}
FN f32 most_xor(f32 x, f32 y)
{
    if (x != x || y != y) return x + y;
    f32 r = fmaxf(fabsf(x), fabsf(y));
    return __uint_as_float(__float_as_uint(r) & 0x7fffffffu | (__float_as_uint(x) ^ __float_as_uint(y)) & 0x80000000u);
}
#endif
#if __CUDA_ARCH__ >= 1000
PTX3(u64, "=l", pair_fma_raw, "fma.rn.f32x2", u64, "l", u64, "l", u64, "l") PTX2(u64, "=l", pair_add_raw, "add.rn.f32x2", u64, "l", u64, "l")
PTX2(u64, "=l", pair_mul_raw, "mul.rz.f32x2", u64, "l", u64, "l") PTX2(u64, "=l", pair_flushed_raw, "add.rp.ftz.f32x2", u64, "l", u64, "l")
#define PAIRED_ALREADY
#endif
FN f32 root_reciprocal(f32 x) { return __frsqrt_rn(x); }
FN u32 nth_from(u32 m, u32 base, s32 n) { return __fns(m, base & 31, n % 6); }
#else
template <class T, bool S> T cut(T x, u32 at, u32 n)
{
    const int last = 8 * sizeof(T) - 1;
    at &= 255; n &= 255;
    const u32 end = at + n - 1 < (u32)last ? at + n - 1 : last;
    const bool sign = S && n && (x >> end & 1);
    T r = 0;
    for (u32 i = 0; i <= (u32)last; i++) r |= (T)(i < n && at + i <= (u32)last ? x >> (at + i) & 1 : (T)sign) << i;
    return r;
}
FN u32 cut_out(u32 x, u32 at, u32 n) { return cut<u32, false>(x, at, n); }
FN s32 cut_out(s32 x, u32 at, u32 n) { return (s32)cut<u32, true>((u32)x, at, n); }
FN u64 cut_out(u64 x, u32 at, u32 n) { return cut<u64, false>(x, at, n); }
FN s64 cut_out(s64 x, u32 at, u32 n) { return (s64)cut<u64, true>((u64)x, at, n); }
template <class T> T put(T x, T y, u32 at, u32 n)
{
    at &= 255; n &= 255;
    for (u32 i = 0; i < n && at + i < 8 * sizeof(T); i++) y = (y & ~((T)1 << (at + i))) | (x >> i & 1) << (at + i);
    return y;
}
FN u32 put_in(u32 x, u32 y, u32 at, u32 n) { return put(x, y, at, n); }
FN u64 put_in(u64 x, u64 y, u32 at, u32 n) { return put(x, y, at, n); }
template <class G> u32 bytes_by(u32 x, u32 y, G g)
{
    const u64 all = (u64)y << 32 | x;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) r |= (u32)(all >> 8 * (g(i) & 7) & 255) << 8 * i;
    return r;
}
FN u32 bytes_of(u32 x, u32 y, u32 z)
{
    u32 r = bytes_by(x, y, [z](u32 i) { return z >> 4 * i; });
    for (u32 i = 0; i < 4; i++)
        if (z >> 4 * i & 8) r = (r & ~(255u << 8 * i)) | ((r >> (8 * i + 7) & 1) * 255u) << 8 * i;
    return r;
}
FN u32 bytes_f4e(u32 x, u32 y, u32 z) { z &= 3; return bytes_by(x, y, [z](u32 i) { return z + i; }); }
FN u32 bytes_b4e(u32 x, u32 y, u32 z) { z &= 3; return bytes_by(x, y, [z](u32 i) { return z - i; }); }
FN u32 bytes_rc8(u32 x, u32 y, u32 z) { z &= 3; return bytes_by(x, y, [z](u32) { return z; }); }
FN u32 bytes_ecl(u32 x, u32 y, u32 z) { z &= 3; return bytes_by(x, y, [z](u32 i) { return i > z ? i : z; }); }
FN u32 bytes_ecr(u32 x, u32 y, u32 z) { z &= 3; return bytes_by(x, y, [z](u32 i) { return i < z ? i : z; }); }
FN u32 bytes_rc16(u32 x, u32 y, u32 z) { z &= 1; return bytes_by(x, y, [z](u32 i) { return 2 * z + (i & 1); }); }
FN u32 highest(u64 x) { return x ? 63 - (u32)__builtin_clzll(x) : ~0u; }
FN u32 highest(u32 x) { return highest((u64)x); }
FN u32 highest(s64 x) { return highest((u64)(x < 0 ? ~x : x)); }
FN u32 highest(s32 x) { return highest((s64)x); }
FN u32 to_highest(u32 x) { return x ? 31 - highest(x) : ~0u; }
FN u32 to_highest(s64 x) { const u32 at = highest(x); return at == ~0u ? at : 63 - at; }
FN s64 held(s64 x, s64 low, s64 high) { return x < low ? low : x > high ? high : x; }
FN s32 sum_kept(s32 a, s32 b) { return (s32)held((s64)a + b, -2147483648ll, 2147483647); }
FN s32 difference_kept(s32 a, s32 b) { return (s32)held((s64)a - b, -2147483648ll, 2147483647); }
FN u32 high_sum(u32 a, u32 b, u32 c) { return __umulhi(a, b) + c; }
FN s32 high_sum(s32 a, s32 b, s32 c) { return (s32)((u32)__mulhi(a, b) + (u32)c); }
FN u64 high_sum(u64 a, u64 b, u64 c) { return __umul64hi(a, b) + c; }
FN s64 high_sum(s64 a, s64 b, s64 c) { return (s64)((u64)__mul64hi(a, b) + (u64)c); }
FN u32 high_24(u32 a, u32 b, u32 c) { return (u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16) + c; }
FN s32 high_24(s32 a, s32 b, s32 c) { return (s32)((u32)(((s64)((s32)((u32)a << 8) >> 8) * ((s32)((u32)b << 8) >> 8)) >> 16) + (u32)c); }
FN u32 moved_left(u32 x, u32 n) { return n > 31 ? 0 : x << n; }
FN u64 moved_left(u64 x, u32 n) { return n > 63 ? 0 : x << n; }
FN u32 moved_right(u32 x, u32 n) { return n > 31 ? 0 : x >> n; }
FN s32 moved_right(s32 x, u32 n) { return x >> (n > 31 ? 31 : n); }
FN u64 moved_right(u64 x, u32 n) { return n > 63 ? 0 : x >> n; }
FN s64 moved_right(s64 x, u32 n) { return x >> (n > 63 ? 63 : n); }
FN s32 extended(s32 x, u32 n) { n &= 31; return n == 0 ? 0 : (s32)((u32)x << (32 - n)) >> (32 - n); }
FN u32 extended(u32 x, u32 n) { return x & ((1u << (n & 31)) - 1); }
FN u32 ones(u32 a, u32 b) { return a > 31 ? 0 : (b > 31 ? ~0u : (1u << b) - 1) << a; }
FN u32 ones_wrap(u32 a, u32 b) { return ones(a & 31, b & 31); }
FN u32 chosen(u32 x, u32 y, s32 z) { return z >= 0 ? x : y; }
FN u64 chosen(u64 x, u64 y, f32 z) { return z >= 0 ? x : y; }
FN u32 mask_less(s32 x, s32 y) { return x < y ? ~0u : 0; }
FN u32 mask_more(u64 x, u64 y) { return x >= y ? ~0u : 0; }
FN f32 one_if_more(f32 x, f32 y) { return !(x <= y) ? 1 : 0; }
template <bool A, bool B> s64 mixed4(u32 a, u32 b) { s64 r = 0; for (int i = 0; i < 4; i++) r += lane<8, A>(a, i) * lane<8, B>(b, i); return r; }
template <bool A, bool B> s64 mixed2(u32 a, u32 b, int at) { s64 r = 0; for (int i = 0; i < 2; i++) r += lane<16, A>(a, i) * lane<8, B>(b, i + at); return r; }
FN s32 dot_su(s32 a, u32 b, s32 c) { return (s32)(mixed4<true, false>(a, b) + c); }
FN s32 dot_us(u32 a, s32 b, s32 c) { return (s32)(mixed4<false, true>(a, b) + c); }
FN s32 dot2_su(s32 a, u32 b, s32 c) { return (s32)(mixed2<true, false>(a, b, 0) + c); }
FN s32 dot2_us(u32 a, s32 b, s32 c) { return (s32)(mixed2<false, true>(a, b, 2) + c); }
#define LOGIC(lut) FN u32 logic_##lut(u32 x, u32 y, u32 z) \
    { u32 r = 0; for (int i = 0; i < 32; i++) r |= (lut >> (4 * (x >> i & 1) + 2 * (y >> i & 1) + (z >> i & 1)) & 1u) << i; return r; }
FN u32 sum_96(u32 a, u32 b, u32 c, u32 d)
{
    const u64 x = (u64)a + b, y = (u64)c + d + (x >> 32), z = (u64)a + d + (y >> 32);
    return (u32)x ^ (u32)y << 1 ^ (u32)z << 2;
}
FN u32 difference_96(u32 a, u32 b, u32 c, u32 d)
{
    const u64 x = (u64)a - b, y = (u64)c - d - (x >> 63), z = (u64)a - d - (y >> 63);
    return (u32)x ^ (u32)y << 1 ^ (u32)z << 2;
}
FN u64 product_96(u32 a, u32 b, u32 c, u32 d)
{
    const u128 all = (u128)a * b + ((u128)d << 32 | c);
    return (u64)all ^ (u64)(u32)(c + (u32)(all >> 64)) << 7;
}
FN u64 product_64_128(u64 a, u64 b, u64 c, u64 d)
{
    const u128 all = (u128)a * b + ((u128)d << 64 | c);
    return (u64)all ^ (u64)(all >> 64) << 1;
}
FN u32 kept_u8(s32 x) { return (u32)held(x, 0, 255); }
FN s32 kept_s8(s32 x) { return (s32)held(x, -128, 127); }
FN s32 kept_s8(u32 x) { return (s32)held(x, -128, 127); }
FN u16 kept_u16(s32 x) { return (u16)held(x, 0, 65535); }
FN s16 kept_s16(s32 x) { return (s16)held(x, -32768, 32767); }
FN u16 kept_u16(s64 x) { return (u16)held(x, 0, 65535); }
FN u32 kept_u32(s64 x) { return (u32)held(x, 0, 4294967295ll); }
FN s32 kept_s32(u64 x) { return (s32)(x > 2147483647 ? 2147483647 : x); }
FN u64 kept_u64(s32 x) { return x < 0 ? 0 : x; }
FN s64 whole_in(f64 x, s64 low, s64 high) { return x != x ? 0 : x <= (f64)low ? low : x >= (f64)high ? high : (s64)x; }
FN u16 whole_u16(f32 x) { return (u16)whole_in(rint((f64)x), 0, 65535); }
FN s16 whole_s16(f64 x) { return x != x ? (s16)-32768 : (s16)whole_in(trunc(x), -32768, 32767); }
FN u32 whole_u8(f32 x) { return (u32)whole_in(rint((f64)x), 0, 255); }
FN s32 whole_s8(f32 x) { return (s32)whole_in(floor((f64)x), -128, 127); }
FN f32 flushed(f32 x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
FN f32 sum_in_1(f32 a, f32 b) { return clamped(a + b); }
FN f32 product_in_1(f32 a, f32 b) { return clamped(a * b); }
FN f32 fused_in_1(f32 a, f32 b, f32 c) { return clamped(fmaf(a, b, c)); }
FN f32 add_flushed(f32 a, f32 b) { return flushed(flushed(a) + flushed(b)); }
FN f32 mul_flushed(f32 a, f32 b) { return flushed(flushed(a) * flushed(b)); }
FN f32 fma_flushed(f32 a, f32 b, f32 c) { return flushed(fmaf(flushed(a), flushed(b), flushed(c))); }
FN f32 min_flushed(f32 a, f32 b) { return less_of(flushed(a), flushed(b)); }
FN f32 max_flushed(f32 a, f32 b) { return more_of(flushed(a), flushed(b)); }
FN f32 abs_flushed(f32 a) { return fabsf(flushed(a)); }
FN f32 div_flushed(f32 a, f32 b) { return flushed(flushed(a) / flushed(b)); }
FN f32 sqrt_flushed(f32 a) { return sqrtf(flushed(a)); }
FN f32 whole_flushed(f32 a) { return rintf(flushed(a)); }
FN u32 less_flushed(f32 a, f32 b) { return flushed(a) < flushed(b) ? ~0u : 0; }
FN f64 wide_flushed(f32 a) { return flushed(a); }
FN f32 narrow_flushed(f64 a) { return flushed((f32)a); }
FN f32 least_or_nan(f32 a, f32 b) { return a != a || b != b ? a + b : less_of(a, b); }
FN f32 most_or_nan(f32 a, f32 b) { return a != a || b != b ? a + b : more_of(a, b); }
FN f32 signed_by(f32 r, f32 a, f32 b) { return r != r ? r : std::copysign(r, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f); }
FN f32 least_xor(f32 a, f32 b) { return signed_by(less_of(fabsf(a), fabsf(b)), a, b); }
FN f32 most_xor(f32 a, f32 b) { return signed_by(most_or_nan(fabsf(a), fabsf(b)), a, b); }
FN f32 root_reciprocal(f32 x) { return (f32)(1 / sqrtl((long double)x)); }
FN u32 nth_from(u32 m, u32 base, s32 n)
{
    int at = base & 31, left = n % 6;
    if (left == 0) return m >> at & 1 ? at : ~0u;
    for (const int step = left < 0 ? -1 : 1; at >= 0 && at < 32; at += step)
        if ((m >> at & 1) && (left -= step) == 0) return at;
    return ~0u;
}
#endif
LOGIC(0x1b) LOGIC(0x96) LOGIC(0xe8) LOGIC(0xca) LOGIC(0x6d) LOGIC(0x07)
FN u32 low(u64 x) { return (u32)x; }
FN u32 high(u64 x) { return (u32)(x >> 32); }
FN u64 joined(f32 a, f32 b) { return bits(a) | (u64)bits(b) << 32; }
#define HALVES_OF(E) joined([&](f32 x, f32 y, f32 z) { return E; }(as_float(low(a)), as_float(low(b)), as_float(low(c))), \
                            [&](f32 x, f32 y, f32 z) { return E; }(as_float(high(a)), as_float(high(b)), as_float(high(c))))
#ifdef PAIRED_ALREADY
FN u64 shown_pair(u64 r) { return joined(as_float(low(r)), as_float(high(r))); }
FN u64 pair_fma(u64 a, u64 b, u64 c) { return shown_pair(pair_fma_raw(a, b, c)); }
FN u64 pair_add(u64 a, u64 b) { return shown_pair(pair_add_raw(a, b)); }
FN u64 pair_mul(u64 a, u64 b) { return shown_pair(pair_mul_raw(a, b)); }
#else
FN u64 pair_fma(u64 a, u64 b, u64 c) { return HALVES_OF(fmaf(x, y, z)); }
FN u64 pair_add(u64 a, u64 b) { u64 c = 0; return HALVES_OF(x + y); }
FN u64 pair_mul(u64 a, u64 b) { u64 c = 0; return HALVES_OF(__fmul_rz(x, y)); }
#endif
struct Three { u64 a; f32 b; u8 c; };
FN Three three(u64 a, f32 b, u8 c) { Three r = { a, b, c }; return r; }
APART Three turned(Three x, u32 n)
{
    for (u32 i = 0; i < (n & 7); i++) { x.a = x.a << 3 | x.c; x.c = (u8)(x.c * 5 + i); x.b = x.b * 0.5f + x.c; }
    return x;
}
APART u32 walked(u32* box, u32 n, u32 x)
{
    for (u32 i = 0; i < (n & 15); i++) { u32 k = (x ^ i) & 7; x = x * 69069 + box[k]; box[(k + n) & 7] ^= x; }
    return x;
}
union Mixed { u64 whole; f64 real; u32 words[2]; u16 shorts[4]; u8 bytes[8]; };
FN u64 retyped(u64 x, u32 at, u32 n, u16 y) { Mixed m; m.whole = x; m.bytes[at & 7] ^= (u8)n; m.shorts[n & 3] += y; m.words[at & 1] *= 3; return m.whole; }
FN u64 float_bits_moved(f64 x, u32 n) { Mixed m; m.real = x; if (x != x) m.whole = 9; m.words[1] ^= n & 0x800fffffu; return m.whole; }
#ifdef __CUDACC_RTC__
#define LOADED(how, p) how(p)
#else
#define LOADED(how, p) (*(p))
#endif
