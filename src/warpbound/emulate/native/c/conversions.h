// Conversions between integers and floats to nearest: warpbound/emulate/conversions.py in C.

enum whole { NEAREST, TRUNCATED, FLOOR, CEILING };
enum width { FLOAT16, FLOAT32, FLOAT64 };

static inline double rounded(double v, int how) {
    return how == NEAREST ? __builtin_rint(v) : how == TRUNCATED ? __builtin_trunc(v)
         : how == FLOOR ? __builtin_floor(v) : __builtin_ceil(v);
}

// The first source as float64. mode[1]: its width
static inline void float_source(const Chunk *s, const Step *t, i64 w, double *result) {
    if (t->mode[1] == FLOAT64) {
        double_of(s, &t->in[0], w, result);
        return;
    }
    float a[LANES];
    single(s, t, 0, w, a);
    EACH_LANE result[i] = a[i];
}

static inline i64 saturated_to(double v, int bits, int is_signed) {
    if (is_signed) {
        double limit = __builtin_ldexp(1.0, bits - 1);
        return v >= limit ? (i64)(((u64)1 << (bits - 1)) - 1) : v < -limit ? -(i64)((u64)1 << (bits - 1)) : (i64)v;
    }
    double limit = __builtin_ldexp(1.0, bits);
    if (v >= limit) return bits == 64 ? -1 : (i64)(((u64)1 << bits) - 1);
    return v < 0 ? 0 : (i64)(u64)v;
}

// mode: FLUSHES, width, whole, bits, signed, NaN becomes 0
OPERATION(float_to_integer) {
    double v[LANES];
    u64 wide[LANES];
    u32 word[LANES];
    int bits = t->mode[3], is_signed = t->mode[4];
    u64 nan = t->mode[5] ? 0 : is_signed ? -((u64)1 << (bits - 1)) : (u64)1 << (bits - 1);
    float_source(s, t, w, v);
    EACH_LANE v[i] = rounded(v[i], t->mode[2]);
    EACH_LANE wide[i] = v[i] != v[i] ? nan : (u64)saturated_to(v[i], bits, is_signed);
    if (bits == 64) {
        put_pair(s, &t->out, w, wide, m);
        return;
    }
    EACH_LANE word[i] = (u32)wide[i];
    put(s, &t->out, w, word, m);
}

// mode: shift, width of the result, unused, bits, signed
OPERATION(integer_to_float) {
    u32 x[LANES], word[LANES];
    i64 v[LANES];
    float r[LANES];
    double d[LANES];
    int bits = t->mode[3], is_signed = t->mode[4];
    if (bits == 64) {
        pair(s, &t->in[0], w, (u64 *)v);
        if (t->in[0].change & NEGATED) EACH_LANE v[i] = (i64)(0 - (u64)v[i]);
    } else {
        const u32 *a = raw(s, &t->in[0], w, x);
        int up = 32 - bits;
        EACH_LANE {
            u32 part = a[i] >> t->mode[0] << up;
            i32 number = is_signed ? (i32)part >> up : (i32)(part >> up);
            if (t->in[0].change & ABSOLUTE && is_signed && number < 0) number = (i32)(0 - (u32)number);
            if (t->in[0].change & NEGATED) number = (i32)(0 - (u32)number);
            u32 again = (u32)number << up;  // the number has so few bits still
            v[i] = is_signed ? (i32)again >> up : (i64)(again >> up);
        }
    }
    if (t->mode[1] == FLOAT64) {
        if (is_signed || bits < 64) EACH_LANE d[i] = (double)v[i];
        else EACH_LANE d[i] = (double)(u64)v[i];
        put_double(s, &t->out, w, d, m);
        return;
    }
    if (is_signed || bits < 64) EACH_LANE r[i] = (float)v[i];
    else EACH_LANE r[i] = (float)(u64)v[i];
    memcpy(word, r, sizeof word);
    put(s, &t->out, w, word, m);
}

// mode: FLUSHES, width of the source, whole or -1, width of the result
OPERATION(float_to_float) {
    double v[LANES];
    float r[LANES];
    float_source(s, t, w, v);
    if (t->mode[2] >= 0) EACH_LANE v[i] = rounded(v[i], t->mode[2]);
    if (t->mode[3] == FLOAT64) {
        put_double(s, &t->out, w, v, m);
        return;
    }
    EACH_LANE r[i] = (float)v[i];
    put_single(s, t, w, r, m);
}
