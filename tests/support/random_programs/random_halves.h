// The host's side of random programs: halves and bfloats, each result rounded once from the exact number.
template <int P, int LEAST> u16 narrowed(exact x, int way, bool negative_zero = false)
{   // P bits with the leading one; the smallest number is 2^LEAST
    const u16 infinite = P == 11 ? 0x7c00 : 0x7f80;
    if (x != x) return 0x7fff;
    const bool negative = x < 0 || (x == 0 && negative_zero);
    exact y = x < 0 ? -x : x;
    if (y == 0) return (u16)(negative << 15);
    const exact huge = (exact)ldexpl(1, 300), tiny = (exact)ldexpl(1, -300);
    if (y > huge * huge * huge * huge) { if (y / 2 == y) return (u16)(negative << 15 | infinite); }
    if (y > huge) y = huge;
    if (y < tiny) y = tiny;
    int e = 0;
    for (exact z = y; z >= 2; z /= 2) e++;
    for (exact z = y; z < 1; z *= 2) e--;
    const int q = e - (P - 1) > LEAST ? e - (P - 1) : LEAST;
    const exact n = y / (exact)ldexpl(1, q);
    u64 whole = (u64)n;
    const exact part = n - (exact)whole;
    if (way == FE_TONEAREST) whole += part > 0.5Q || (part == 0.5Q && (whole & 1));
    if (way == (negative ? FE_DOWNWARD : FE_UPWARD)) whole += part > 0;
    u64 r = ((u64)(q - LEAST) << (P - 1)) + whole;
    if (r >= infinite) r = way == FE_TONEAREST || way == (negative ? FE_DOWNWARD : FE_UPWARD) ? infinite : infinite - 1;
    return (u16)(negative << 15 | r);
}
FN exact half_value(f16 x)
{
    const int e = x >> 10 & 31, m = x & 1023;
    const exact y = e == 31 ? m ? (exact)NAN : (exact)INFINITY : e ? (exact)ldexpl(1024 + m, e - 25) : (exact)ldexpl(m, -24);
    return x >> 15 ? -y : y;
}
FN exact bfloat_value(bf x) { return (exact)__uint_as_float((u32)x << 16); }
FN bool minus(exact x) { return same_bits<u128>(x) >> 127; }
template <int P, int LEAST> u16 of(exact x, int way = FE_TONEAREST) { return narrowed<P, LEAST>(x, way, minus(x)); }
FN exact fused(exact p, exact c)
{   // p + c, odd in its last bit where bits are lost, so that it can be rounded again
    const exact sum = p + c, there = sum - p, lost = (p - (sum - there)) + (c - there);
    u128 r = same_bits<u128>(sum);
    if ((lost > 0 || lost < 0) && !(r & 1)) r += (lost > 0) == (sum > 0) ? 1 : -1;
    return same_bits<exact>(r);
}
#define HALF of<11, -24>
#define BFLOAT of<8, -133>
#define V half_value
FN f16 h_add(f16 a, f16 b) { return HALF(V(a) + V(b)); }
FN f16 h_sub(f16 a, f16 b) { return HALF(V(a) - V(b)); }
FN f16 h_mul(f16 a, f16 b) { return HALF(V(a) * V(b)); }
FN f16 h_div(f16 a, f16 b) { return HALF(V(a) / V(b)); }
FN f16 h_fma(f16 a, f16 b, f16 c) { return HALF(fused(V(a) * V(b), V(c))); }
FN f16 h_clamped(f16 r) { return (r & 0x7fff) > 0x7c00 || r >> 15 ? 0 : r > 0x3c00 ? 0x3c00 : r; }
FN f16 h_sat(f16 a, f16 b) { return h_clamped(h_add(a, b)); }
FN bool h_nan(f16 a) { return (a & 0x7fff) > 0x7c00; }
FN bool h_lt(f16 a, f16 b) { return V(a) < V(b); }
FN bool h_ge(f16 a, f16 b) { return V(a) >= V(b); }
FN bool h_eq(f16 a, f16 b) { return V(a) == V(b); }
FN bool h_neu(f16 a, f16 b) { return !(V(a) == V(b)); }
FN f16 h_min(f16 a, f16 b) { return h_nan(a) ? b : h_nan(b) ? a : h_eq(a, b) ? a | b : h_lt(a, b) ? a : b; }
FN f16 h_max(f16 a, f16 b) { return h_nan(a) ? b : h_nan(b) ? a : h_eq(a, b) ? a & b : h_lt(a, b) ? b : a; }
FN f16 h_abs(f16 a) { return a & 0x7fff; }
FN f16 h_sqrt(f16 a) { return HALF(sqrtl((long double)V(a))); }
FN f16 h_floor(f16 a) { return HALF(floorl((long double)V(a))); }
FN f16 h_rint(f16 a) { return HALF(rintl((long double)V(a))); }
FN f32 h_float(f16 a) { return (f32)V(a); }
FN f16 h_rn(f32 x) { return HALF(x); }
FN f16 h_rz(f32 x) { return HALF(x, FE_TOWARDZERO); }
FN f16 h_ru(f32 x) { return HALF(x, FE_UPWARD); }
FN f16 h_rd(f32 x) { return HALF(x, FE_DOWNWARD); }
FN f16 h_of_double(f64 x) { return HALF(x); }
FN f16 h_of_int(s32 x) { return HALF(x); }
FN f16 h_of_unsigned(u32 x) { return HALF(x); }
FN f16 h_of_short(s16 x) { return HALF(x); }
FN f16 h_of_long(s64 x) { return HALF(x); }
#define EACH(E) { h2 r = 0; for (int i = 0; i < 32; i += 16) { f16 x = (f16)(a >> i), y = (f16)(b >> i), z = (f16)(c >> i); (void)y; (void)z; r |= (u32)(u16)(E) << i; } return r; }
FN h2 h2_add(h2 a, h2 b, h2 c = 0) EACH(h_add(x, y))
FN h2 h2_sub(h2 a, h2 b, h2 c = 0) EACH(h_sub(x, y))
FN h2 h2_mul(h2 a, h2 b, h2 c = 0) EACH(h_mul(x, y))
FN h2 h2_fma(h2 a, h2 b, h2 c) EACH(h_fma(x, y, z))
FN h2 h2_sat(h2 a, h2 b, h2 c) EACH(h_clamped(h_fma(x, y, z)))
FN h2 h2_min(h2 a, h2 b, h2 c = 0) EACH(h_min(x, y))
FN h2 h2_max(h2 a, h2 b, h2 c = 0) EACH(h_max(x, y))
FN h2 h2_neg(h2 a) { return a ^ 0x80008000u; }
FN h2 h2_gt(h2 a, h2 b, h2 c = 0) EACH(h_lt(y, x) ? 0x3c00 : 0)
FN bool h2_all_lt(h2 a, h2 b) { return h_lt((f16)a, (f16)b) && h_lt((f16)(a >> 16), (f16)(b >> 16)); }
FN h2 h2_of_floats(f32 a, f32 b) { return HALF(a) | (u32)HALF(b) << 16; }
FN f16 h_ceil(f16 a) { return HALF(ceill((long double)V(a))); }
FN f16 h_trunc(f16 a) { return HALF(truncl((long double)V(a))); }
FN f16 h_min_nan(f16 a, f16 b) { return h_nan(a) || h_nan(b) ? 0x7fff : h_min(a, b); }
FN f16 h_max_nan(f16 a, f16 b) { return h_nan(a) || h_nan(b) ? 0x7fff : h_max(a, b); }
FN bool h_gtu(f16 a, f16 b) { return !(V(a) <= V(b)); }
FN s64 h_whole(exact x, s64 low, s64 high) { return x != x ? 0 : x <= low ? low : x >= high ? high : (s64)x; }
FN s32 h_int_rn(f16 a) { return (s32)h_whole(rintl((long double)V(a)), -2147483648ll, 2147483647); }
FN u32 h_unsigned_rd(f16 a) { return (u32)h_whole(floorl((long double)V(a)), 0, 4294967295ll); }
FN s16 h_short_rz(f16 a) { return (s16)h_whole(truncl((long double)V(a)), -32768, 32767); }
FN u16 h_ushort_ru(f16 a) { return (u16)h_whole(ceill((long double)V(a)), 0, 65535); }
FN s64 h_long_rz(f16 a)
{   // no number is the largest negative one
    return h_nan(a) ? (s64)((u64)1 << 63) : a == 0x7c00 ? (s64)(~(u64)0 >> 1) : a == 0xfc00 ? (s64)((u64)1 << 63) : (s64)V(a);
}
FN f16 h_of_int_rz(s32 x) { return HALF(x, FE_TOWARDZERO); }
FN f16 h_of_ushort_ru(u16 x) { return HALF(x, FE_UPWARD); }
FN f16 h_relued(f16 r) { return h_nan(r) ? 0x7fff : r >> 15 ? 0 : r; }
FN f16 h_relu(f16 a, f16 b, f16 c) { return h_relued(h_fma(a, b, c)); }
FN h2 h2_relu(h2 a, h2 b, h2 c) EACH(h_relu(x, y, z))
FN h2 h2_abs(h2 a) { return a & 0x7fff7fffu; }
FN h2 h2_floor(h2 a, h2 b = 0, h2 c = 0) EACH(h_floor(x))
FN h2 h2_leu(h2 a, h2 b, h2 c = 0) EACH(!h_lt(y, x) ? 0x3c00 : 0)
FN h2 h2_gt_mask(h2 a, h2 b, h2 c = 0) EACH(h_lt(y, x) ? 0xffff : 0)
FN h2 h2_neu_mask(h2 a, h2 b, h2 c = 0) EACH(!h_eq(x, y) ? 0xffff : 0)
FN bool h2_any_ge(h2 a, h2 b) { return h_ge((f16)a, (f16)b) && h_ge((f16)(a >> 16), (f16)(b >> 16)); }
FN h2 h2_max_nan(h2 a, h2 b, h2 c = 0) EACH(h_max_nan(x, y))
FN h2 h2_mul_sat(h2 a, h2 b, h2 c = 0) EACH(h_clamped(h_mul(x, y)))
FN h2 h2_lows(h2 a, h2 b) { return (a & 0xffff) | b << 16; }
FN h2 h2_highs(h2 a, h2 b) { return a >> 16 | (b & 0xffff0000u); }
#undef V
#define V bfloat_value
FN bf b_add(bf a, bf b) { return BFLOAT(fused(V(a), V(b))); }
FN bf b_sub(bf a, bf b) { return BFLOAT(fused(V(a), -V(b))); }
FN bf b_mul(bf a, bf b) { return BFLOAT(V(a) * V(b)); }
FN bf b_fma(bf a, bf b, bf c) { return BFLOAT(fused(V(a) * V(b), V(c))); }
FN bool b_nan(bf a) { return (a & 0x7fff) > 0x7f80; }
FN bool b_lt(bf a, bf b) { return V(a) < V(b); }
FN bf b_min(bf a, bf b) { return b_nan(a) ? b : b_nan(b) ? a : V(a) == V(b) ? a | b : b_lt(a, b) ? a : b; }
FN bf b_max(bf a, bf b) { return b_nan(a) ? b : b_nan(b) ? a : V(a) == V(b) ? a & b : b_lt(a, b) ? b : a; }
FN bf b_rn(f32 x) { return BFLOAT(x); }
FN bf b_rz(f32 x) { return BFLOAT(x, FE_TOWARDZERO); }
FN bf b_ru(f32 x) { return BFLOAT(x, FE_UPWARD); }
FN bf b_neg(bf a) { return a ^ 0x8000; }
FN bf b_abs(bf a) { return a & 0x7fff; }
FN bf b_sat(bf a, bf b) { const bf r = b_add(a, b); return b_nan(r) || r >> 15 ? 0 : r > 0x3f80 ? 0x3f80 : r; }
FN bf b_relu(bf a, bf b, bf c) { const bf r = b_fma(a, b, c); return b_nan(r) ? 0x7fff : r >> 15 ? 0 : r; }
FN bf b_max_nan(bf a, bf b) { return b_nan(a) || b_nan(b) ? 0x7fff : b_max(a, b); }
FN bool b_geu(bf a, bf b) { return !b_lt(a, b); }
FN bool b_ne(bf a, bf b) { return V(a) < V(b) || V(b) < V(a); }
FN s32 b_int_rz(bf a) { return (s32)h_whole(truncl((long double)V(a)), -2147483648ll, 2147483647); }
FN u16 b_ushort_rn(bf a) { return (u16)h_whole(rintl((long double)V(a)), 0, 65535); }
FN bf b_of_int(s32 x) { return BFLOAT(x); }
FN bf b_of_unsigned_rd(u32 x) { return BFLOAT(x, FE_DOWNWARD); }
FN bf b_of_short(s16 x) { return BFLOAT(x); }
FN bf b_of_double(f64 x) { return BFLOAT(x); }
FN b2 b2_add(b2 a, b2 b, b2 c = 0) EACH(b_add(x, y))
FN b2 b2_sub(b2 a, b2 b, b2 c = 0) EACH(b_sub(x, y))
FN b2 b2_mul(b2 a, b2 b, b2 c = 0) EACH(b_mul(x, y))
FN b2 b2_fma(b2 a, b2 b, b2 c) EACH(b_fma(x, y, z))
FN b2 b2_relu(b2 a, b2 b, b2 c) EACH(b_relu(x, y, z))
FN b2 b2_min(b2 a, b2 b, b2 c = 0) EACH(b_min(x, y))
FN b2 b2_max(b2 a, b2 b, b2 c = 0) EACH(b_max(x, y))
FN b2 b2_gt(b2 a, b2 b, b2 c = 0) EACH(b_lt(y, x) ? 0x3f80 : 0)
FN b2 b2_gt_mask(b2 a, b2 b, b2 c = 0) EACH(b_lt(y, x) ? 0xffff : 0)
FN b2 b2_neg(b2 a) { return a ^ 0x80008000u; }
FN b2 b2_abs(b2 a) { return a & 0x7fff7fffu; }
FN bool b2_all_lt(b2 a, b2 b) { return b_lt((bf)a, (bf)b) && b_lt((bf)(a >> 16), (bf)(b >> 16)); }
FN b2 b2_of_floats(f32 a, f32 b) { return BFLOAT(a) | (u32)BFLOAT(b) << 16; }
