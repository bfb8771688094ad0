// FP32 and FP64 to nearest, comparisons, minima, special functions: warpbound/emulate/float32.py, float64.py and
// special_functions.py in C.

enum rounding { FLUSHES = 1, SATURATES = 2 };
enum float_comparison { NOT_LESS = 8, NOT_LESS_EQUAL, NOT_GREATER, NOT_GREATER_EQUAL, UNORDERED_OR_EQUAL, ORDERED,
                        UNORDERED, ORDERED_NOT_EQUAL };

static inline u32 flushed(u32 bits) { return bits & 0x7F800000u ? bits : bits & 0x80000000u; }

static inline float as_float(u32 bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline u32 bits_of(float value) {
    u32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static inline double as_double(u64 bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static inline u64 bits_of_double(double value) {
    u64 bits;
    memcpy(&bits, &value, 8);
    return bits;
}

// A float32 source with its signs; subnormals are flushed where mode[0] says so.
static inline void single(const Chunk *s, const Step *t, int n, i64 w, float *result) {
    u32 room[LANES], bits[LANES];
    const Operand *o = &t->in[n];
    const u32 *value = raw(s, o, w, room);
    u32 keep = o->change & ABSOLUTE ? 0x7FFFFFFFu : ALL, turn = o->change & NEGATED ? 0x80000000u : 0;
    if (t->mode[0] & FLUSHES) EACH_LANE bits[i] = flushed((value[i] & keep) ^ turn);
    else EACH_LANE bits[i] = (value[i] & keep) ^ turn;
    memcpy(result, bits, sizeof bits);
}

static inline void put_single(Chunk *s, const Step *t, i64 w, const float *value, u32 m) {
    u32 bits[LANES];
    memcpy(bits, value, sizeof bits);
    if (t->mode[0] & FLUSHES) EACH_LANE bits[i] = flushed(bits[i]);
    if (t->mode[0] & SATURATES) EACH_LANE {
        float v = as_float(bits[i]);
        bits[i] = bits_of(v > 0 ? (v < 1 ? v : 1) : 0);
    }
    put(s, &t->out, w, bits, m);
}

static inline void double_of(const Chunk *s, const Operand *o, i64 w, double *result) {
    u64 bits[LANES];
    pair(s, o, w, bits);
    if (o->change & ABSOLUTE) EACH_LANE bits[i] &= 0x7FFFFFFFFFFFFFFFu;
    if (o->change & NEGATED) EACH_LANE bits[i] ^= 0x8000000000000000u;
    memcpy(result, bits, sizeof bits);
}

static inline void put_double(Chunk *s, const Operand *o, i64 w, const double *value, u32 m) {
    u64 bits[LANES];
    memcpy(bits, value, sizeof bits);
    put_pair(s, o, w, bits, m);
}

OPERATION(add_float) {
    float a[LANES], b[LANES], r[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    EACH_LANE r[i] = a[i] + b[i];
    put_single(s, t, w, r, m);
}

OPERATION(multiply_float) {
    float a[LANES], b[LANES], r[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    EACH_LANE r[i] = a[i] * b[i];
    put_single(s, t, w, r, m);
}

OPERATION(multiply_add_float) {
    float a[LANES], b[LANES], c[LANES], r[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    single(s, t, 2, w, c);
    EACH_LANE r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    put_single(s, t, w, r, m);
}

OPERATION(add_double) {
    double a[LANES], b[LANES];
    double_of(s, &t->in[0], w, a);
    double_of(s, &t->in[1], w, b);
    EACH_LANE a[i] += b[i];
    put_double(s, &t->out, w, a, m);
}

OPERATION(multiply_double) {
    double a[LANES], b[LANES];
    double_of(s, &t->in[0], w, a);
    double_of(s, &t->in[1], w, b);
    EACH_LANE a[i] *= b[i];
    put_double(s, &t->out, w, a, m);
}

OPERATION(multiply_add_double) {
    double a[LANES], b[LANES], c[LANES];
    double_of(s, &t->in[0], w, a);
    double_of(s, &t->in[1], w, b);
    double_of(s, &t->in[2], w, c);
    EACH_LANE a[i] = __builtin_fma(a[i], b[i], c[i]);
    put_double(s, &t->out, w, a, m);
}

#define COMPARED_FLOATS(how, a, b, r)                                                       \
    switch (how) {                                                                          \
    case LESS: EACH_LANE r[i] = a[i] < b[i]; break;                                         \
    case EQUAL: EACH_LANE r[i] = a[i] == b[i]; break;                                       \
    case LESS_EQUAL: EACH_LANE r[i] = a[i] <= b[i]; break;                                  \
    case GREATER: EACH_LANE r[i] = a[i] > b[i]; break;                                      \
    case NOT_EQUAL: EACH_LANE r[i] = a[i] != b[i]; break;                                   \
    case GREATER_EQUAL: EACH_LANE r[i] = a[i] >= b[i]; break;                               \
    case NOT_LESS: EACH_LANE r[i] = !(a[i] < b[i]); break;                                  \
    case NOT_LESS_EQUAL: EACH_LANE r[i] = !(a[i] <= b[i]); break;                           \
    case NOT_GREATER: EACH_LANE r[i] = !(a[i] > b[i]); break;                               \
    case NOT_GREATER_EQUAL: EACH_LANE r[i] = !(a[i] >= b[i]); break;                        \
    case UNORDERED_OR_EQUAL: EACH_LANE r[i] = !(a[i] < b[i] || a[i] > b[i]); break;         \
    case ORDERED: EACH_LANE r[i] = a[i] == a[i] && b[i] == b[i]; break;                     \
    case UNORDERED: EACH_LANE r[i] = a[i] != a[i] || b[i] != b[i]; break;                   \
    case ORDERED_NOT_EQUAL: EACH_LANE r[i] = a[i] < b[i] || a[i] > b[i]; break;             \
    default: memset(r, (how) == ALWAYS, LANES);                                             \
    }

// mode: rounding, comparison, combination
OPERATION(compare_float) {
    float a[LANES], b[LANES];
    u8 r[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    COMPARED_FLOATS(t->mode[1], a, b, r)
    put_both(s, t, w, m, packed(r), t->mode[2]);
}

OPERATION(compare_double) {
    double a[LANES], b[LANES];
    u8 r[LANES];
    double_of(s, &t->in[0], w, a);
    double_of(s, &t->in[1], w, b);
    COMPARED_FLOATS(t->mode[1], a, b, r)
    put_both(s, t, w, m, packed(r), t->mode[2]);
}

// mode: rounding, comparison, combination, what is true
OPERATION(compare_to_word) {
    float a[LANES], b[LANES];
    u32 r[LANES];
    u8 holds[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    COMPARED_FLOATS(t->mode[1], a, b, holds)
    u32 bits = combined(t->mode[2], packed(holds), flag(s, &t->flag_in[0], w));
    EACH_LANE r[i] = bits >> i & 1 ? (u32)t->mode[3] : 0;
    put(s, &t->out, w, r, m);
}

OPERATION(select_float) {
    float a[LANES], b[LANES];
    u32 bits = flag(s, &t->flag_in[0], w), first[LANES], second[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    memcpy(first, a, sizeof first);
    memcpy(second, b, sizeof second);
    EACH_LANE first[i] = bits >> i & 1 ? first[i] : second[i];
    put(s, &t->out, w, first, m);
}

// A number wins over NaN; -0 is less than +0.
#define LEAST(a, b, sign) \
    (a != a ? b : b != b ? a : a < b || (a == b && (sign)) ? a : b)
#define MOST(a, b, sign) \
    (a != a ? b : b != b ? a : a > b || (a == b && !(sign)) ? a : b)

OPERATION(minimum_float) {
    float a[LANES], b[LANES], r[LANES];
    u32 bits = flag(s, &t->flag_in[0], w);
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    EACH_LANE {
        u32 sign = bits_of(a[i]) >> 31;
        r[i] = bits >> i & 1 ? LEAST(a[i], b[i], sign) : MOST(a[i], b[i], sign);
    }
    put_single(s, t, w, r, m);
}

OPERATION(minimum_double) {
    double a[LANES], b[LANES], r[LANES];
    u32 bits = flag(s, &t->flag_in[0], w);
    double_of(s, &t->in[0], w, a);
    double_of(s, &t->in[1], w, b);
    EACH_LANE {
        u64 sign = bits_of_double(a[i]) >> 63;
        r[i] = bits >> i & 1 ? LEAST(a[i], b[i], sign) : MOST(a[i], b[i], sign);
    }
    put_double(s, &t->out, w, r, m);
}

OPERATION(check_division) {
    float a[LANES], b[LANES];
    u8 r[LANES];
    single(s, t, 0, w, a);
    single(s, t, 1, w, b);
    EACH_LANE {
        i32 first = bits_of(a[i]) >> 23 & 255, second = bits_of(b[i]) >> 23 & 255, difference = first - second;
        r[i] = first >= 255 || second >= 253 || second <= 1 || first <= 24 || difference >= 126 || difference <= -125;
    }
    put_flag(s, &t->flag_out[0], w, packed(r), m);
}

enum function { RCP, RSQ, SQRT, LG2, EX2, SIN, COS, TANH };
#define TURN 6.283185307179586476925286766559

#define APPLIED(function, v, r)                                       \
    switch (function) {                                               \
    case RCP: EACH_LANE r[i] = 1.0 / v[i]; break;                     \
    case RSQ: EACH_LANE r[i] = 1.0 / __builtin_sqrt(v[i]); break;     \
    case SQRT: EACH_LANE r[i] = __builtin_sqrt(v[i]); break;          \
    case LG2: EACH_LANE r[i] = log2(v[i]); break;                     \
    case EX2: EACH_LANE r[i] = exp2(v[i]); break;                     \
    case SIN: EACH_LANE r[i] = sin(v[i] * TURN); break;               \
    case COS: EACH_LANE r[i] = cos(v[i] * TURN); break;               \
    default: EACH_LANE r[i] = tanh(v[i]);                             \
    }

// mode: FLUSHES, function
OPERATION(special_function) {
    float a[LANES];
    double v[LANES], r[LANES];
    single(s, t, 0, w, a);
    EACH_LANE v[i] = a[i];
    APPLIED(t->mode[1], v, r)
    EACH_LANE a[i] = (float)r[i];
    put_single(s, t, w, a, m);
}

static inline double without_subnormal(double v) {
    return __builtin_fabs(v) < 0x1p-1022 ? __builtin_copysign(0.0, v) : v;
}

// The upper word of a float64's reciprocal or its root's. mode: unused, function
OPERATION(special_function_of_upper_word) {
    u32 x[LANES], word[LANES];
    double v[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x);
    EACH_LANE v[i] = without_subnormal(as_double((u64)a[i] << 32));
    APPLIED(t->mode[1], v, r)
    EACH_LANE word[i] = (u32)(bits_of_double(without_subnormal(r[i])) >> 32);
    put(s, &t->out, w, word, m);
}
