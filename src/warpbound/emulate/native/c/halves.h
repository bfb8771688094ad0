// FP16 and BF16, two to a register: warpbound/emulate/float16.py in C. Halves are computed in float64 and rounded once.

enum half_change { LOW_FROM_HIGH = 8, HIGH_FROM_LOW = 16 };
enum half_format { HALF, BFLOAT };
enum half_limit { HALF_FLUSHES = 1, HALF_SATURATES = 2, HALF_RECTIFIES = 4 };
#define HALF_NAN 0x7FFFu

static inline float half_value(u32 bits) {
    u32 rest = bits & 0x7FFF;
    u32 scaled = bits_of(as_float(rest << 13) * 0x1p112f);  // of subnormals, too
    scaled = rest >= 0x7C00 ? 0x7F800000u | rest << 13 : scaled;
    return as_float(scaled | (bits & 0x8000) << 16);
}

// A float64 rounded to odd in float32: the neighbour with an odd last bit where it is not exact.
static inline float odd_float(double v) {
    float near = (float)v;
    u32 bits = bits_of(near);
    u32 inexact = (double)near != v && v == v;
    bits -= inexact && __builtin_fabs((double)near) > __builtin_fabs(v);
    return as_float(bits | inexact);
}

static inline u32 half_bits(double v) {
    float f = odd_float(v);
    u32 bits = bits_of(f), sign = bits >> 16 & 0x8000, rest = bits & 0x7FFFFFFF;
    u32 normal = (rest + 0xFFF + (rest >> 13 & 1) - 0x38000000u) >> 13;
    u32 tiny = bits_of(as_float(rest) + 0.5f) - 0x3F000000u;
    u32 result = rest < 0x38800000u ? tiny : rest >= 0x47800000u ? 0x7C00u : normal;
    return rest > 0x7F800000u ? HALF_NAN : sign | result;
}

// The sum of two float64 values rounded to odd.
static inline double odd_sum(double a, double b) {
    double total = a + b, part = total - a, error = (a - (total - part)) + (b - part);
    u64 bits = bits_of_double(total);
    int wrong = error != 0 && !(bits & 1) && __builtin_fabs(total) <= 0x1.fffffffffffffp1023;
    if (wrong) bits += (error > 0) == (total > 0) ? 1 : -1;
    return as_double(bits);
}

static inline u32 bfloat_bits(double v) {
    float near = (float)v;
    u32 bits = bits_of(near);
    if (v != v) return HALF_NAN;
    if (__builtin_isinf(v)) return v < 0 ? 0xFF80 : 0x7F80;
    bits -= __builtin_fabs((double)near) > __builtin_fabs(v);
    bits |= (double)as_float(bits) != v;
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// Both halves of source n. mode: format, limits
static inline void halves(const Chunk *s, const Step *t, int n, i64 w, double *low, double *high) {
    u32 room[LANES];
    const Operand *o = &t->in[n];
    const u32 *word = raw(s, o, w, room);
    u32 keep = o->change & ABSOLUTE ? 0x7FFF : 0xFFFF, turn = o->change & NEGATED ? 0x8000 : 0;
    int low_at = o->change & LOW_FROM_HIGH ? 16 : 0, high_at = o->change & HIGH_FROM_LOW ? 0 : 16;
    EACH_LANE {
        u32 first = (word[i] >> low_at & keep) ^ turn, second = (word[i] >> high_at & keep) ^ turn;
        low[i] = t->mode[0] == HALF ? half_value(first) : as_float(first << 16);
        high[i] = t->mode[0] == HALF ? half_value(second) : as_float(second << 16);
    }
}

static inline u32 limited(u32 bits, int format, int limits) {
    u32 mantissa = format == HALF ? 0x03FF : 0x007F, one = format == HALF ? 0x3C00 : 0x3F80;
    if (limits & HALF_FLUSHES && !(bits & ~(mantissa | 0x8000) & 0xFFFF)) bits &= 0x8000;
    if (limits & (HALF_SATURATES | HALF_RECTIFIES)) {
        float v = format == HALF ? half_value(bits) : as_float(bits << 16);
        int positive = limits & HALF_RECTIFIES ? !(v < 0) : v > 0;
        bits = positive ? bits : 0;
        if (limits & HALF_SATURATES && v > 1) bits = one;
    }
    return bits;
}

// Both sums a + b, rounded once. mode: format, limits, the low one as float32
static inline void put_halves(Chunk *s, const Step *t, i64 w, const double *const a[2], const double *const b[2], u32 m) {
    u32 r[LANES] = {0};
    if (t->mode[2]) {
        EACH_LANE r[i] = bits_of((float)odd_sum(a[0][i], b[0][i]));
        put(s, &t->out, w, r, m);
        return;
    }
    for (int n = 0; n < 2; n++) {
        EACH_LANE {
            u32 bits = t->mode[0] == HALF ? half_bits(a[n][i] + b[n][i]) : bfloat_bits(odd_sum(a[n][i], b[n][i]));
            r[i] |= limited(bits, t->mode[0], t->mode[1]) << 16 * n;
        }
    }
    put(s, &t->out, w, r, m);
}

OPERATION(add_halves) {
    double a[2][LANES], b[2][LANES];
    halves(s, t, 0, w, a[0], a[1]);
    halves(s, t, 1, w, b[0], b[1]);
    put_halves(s, t, w, (const double *[]){a[0], a[1]}, (const double *[]){b[0], b[1]}, m);
}

OPERATION(multiply_halves) {
    double a[2][LANES], b[2][LANES], zero[LANES];
    halves(s, t, 0, w, a[0], a[1]);
    halves(s, t, 1, w, b[0], b[1]);
    for (int n = 0; n < 2; n++) EACH_LANE a[n][i] *= b[n][i];
    EACH_LANE zero[i] = -0.0;
    put_halves(s, t, w, (const double *[]){a[0], a[1]}, (const double *[]){zero, zero}, m);
}

OPERATION(multiply_add_halves) {
    double a[2][LANES], b[2][LANES], c[2][LANES];
    halves(s, t, 0, w, a[0], a[1]);
    halves(s, t, 1, w, b[0], b[1]);
    halves(s, t, 2, w, c[0], c[1]);
    for (int n = 0; n < 2; n++) EACH_LANE a[n][i] *= b[n][i];
    put_halves(s, t, w, (const double *[]){a[0], a[1]}, (const double *[]){c[0], c[1]}, m);
}

// A predicate of each half. mode: format, comparison, combination
OPERATION(compare_halves) {
    double a[2][LANES], b[2][LANES];
    u8 r[LANES];
    halves(s, t, 0, w, a[0], a[1]);
    halves(s, t, 1, w, b[0], b[1]);
    u32 other = flag(s, &t->flag_in[0], w);
    for (int n = 0; n < 2; n++) {
        COMPARED_FLOATS(t->mode[1], a[n], b[n], r)
        put_flag(s, &t->flag_out[n], w, combined(t->mode[2], packed(r), other), m);
    }
}

OPERATION(minimum_of_halves) {
    double a[2][LANES], b[2][LANES], zero[LANES];
    u32 bits = flag(s, &t->flag_in[0], w);
    halves(s, t, 0, w, a[0], a[1]);
    halves(s, t, 1, w, b[0], b[1]);
    for (int n = 0; n < 2; n++) EACH_LANE {
        u64 sign = bits_of_double(a[n][i]) >> 63;
        a[n][i] = bits >> i & 1 ? LEAST(a[n][i], b[n][i], sign) : MOST(a[n][i], b[n][i], sign);
    }
    EACH_LANE zero[i] = -0.0;
    put_halves(s, t, w, (const double *[]){a[0], a[1]}, (const double *[]){zero, zero}, m);
}

// Two float32 as halves, the first above. mode: FLUSHES, format, RELU
OPERATION(pack_halves) {
    float high[LANES], low[LANES];
    u32 r[LANES];
    single(s, t, 0, w, high);
    single(s, t, 1, w, low);
    EACH_LANE {
        float first = t->mode[2] && high[i] < 0 ? 0 : high[i], second = t->mode[2] && low[i] < 0 ? 0 : low[i];
        r[i] = t->mode[1] == HALF ? half_bits(first) << 16 | half_bits(second) : bfloat_bits(first) << 16 | bfloat_bits(second);
    }
    put(s, &t->out, w, r, m);
}
