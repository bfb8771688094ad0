// Integer arithmetic, logic, shifts, moves and bit counts: warpbound/emulate/integer*.py and logic_and_shifts.py in C.

enum comparison { LESS, EQUAL, LESS_EQUAL, GREATER, NOT_EQUAL, GREATER_EQUAL, ALWAYS, NEVER };
enum combination { AND, OR, XOR };

static inline u32 combined(int how, u32 a, u32 b) { return how == AND ? a & b : how == OR ? a | b : a ^ b; }

OPERATION(add3) {
    u32 x[LANES], y[LANES], z[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y);
    if (t->in[2].kind == NOTHING) {
        EACH_LANE r[i] = a[i] + b[i];
    } else {
        const u32 *c = integer(s, &t->in[2], w, z);
        EACH_LANE r[i] = a[i] + b[i] + c[i];
    }
    for (int n = 0; n < 2 && t->flag_in[n].kind != NOTHING; n++) {
        u32 bits = flag(s, &t->flag_in[n], w);
        EACH_LANE r[i] += bits >> i & 1;
    }
    put(s, &t->out, w, r, m);
}

// A sum of 64 bits: its word, and whether it has carried once and twice.
static inline void put_with_carries(Chunk *s, const Step *t, i64 w, const u64 *total, u32 m) {
    u32 r[LANES];
    u8 carried[LANES];
    EACH_LANE r[i] = (u32)total[i];
    put(s, &t->out, w, r, m);
    for (int n = 0; n < 2; n++) {
        if (t->flag_out[n].kind == NOTHING) continue;
        EACH_LANE carried[i] = total[i] >> 32 > (u64)n;
        put_flag(s, &t->flag_out[n], w, packed(carried), m);
    }
}

// Sum of up to three words and two carries in 64 bits, with carries out.
OPERATION(add_carrying) {
    u64 total[LANES], term[LANES];
    extended(s, &t->in[0], w, total);
    for (int n = 1; n < 3; n++) {
        if (t->in[n].kind == NOTHING) continue;
        extended(s, &t->in[n], w, term);
        EACH_LANE total[i] += term[i];
    }
    for (int n = 0; n < 2; n++) {
        if (t->flag_in[n].kind == NOTHING) continue;
        u32 bits = flag(s, &t->flag_in[n], w);
        EACH_LANE total[i] += bits >> i & 1;
    }
    put_with_carries(s, t, w, total, m);
}

OPERATION(add_wide) {
    u64 total[LANES], term[LANES];
    wide(s, &t->in[0], w, total);
    for (int n = 1; n < 3; n++) {
        if (t->in[n].kind == NOTHING) continue;
        wide(s, &t->in[n], w, term);
        EACH_LANE total[i] += term[i];
    }
    put_pair(s, &t->out, w, total, m);
}

OPERATION(multiply_add) {
    u32 x[LANES], y[LANES], z[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y), *c = integer(s, &t->in[2], w, z);
    EACH_LANE r[i] = a[i] * b[i] + c[i];
    if (t->flag_in[0].kind != NOTHING) {
        u32 bits = flag(s, &t->flag_in[0], w);
        EACH_LANE r[i] += bits >> i & 1;
    }
    put(s, &t->out, w, r, m);
}

// mode: unsigned, upper word
OPERATION(multiply_wide) {
    u32 x[LANES], y[LANES], r[LANES];
    u64 total[LANES], product[LANES];
    u8 carry[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y);
    wide(s, &t->in[2], w, total);
    if (t->mode[0]) EACH_LANE product[i] = (u64)a[i] * b[i];
    else EACH_LANE product[i] = (u64)((i64)(i32)a[i] * (i32)b[i]);
    EACH_LANE total[i] += product[i];
    EACH_LANE carry[i] = total[i] < product[i];
    if (t->flag_in[0].kind != NOTHING) {
        u32 bits = flag(s, &t->flag_in[0], w);
        EACH_LANE {
            u64 more = total[i] + (bits >> i & 1);
            carry[i] |= more < total[i];
            total[i] = more;
        }
    }
    if (t->mode[1]) {
        EACH_LANE r[i] = (u32)(total[i] >> 32);
        put(s, &t->out, w, r, m);
    } else {
        put_pair(s, &t->out, w, total, m);
    }
    put_flag(s, &t->flag_out[0], w, packed(carry), m);
}

#define COMPARED(how, a, b, r)                                     \
    switch (how) {                                                 \
    case LESS: EACH_LANE r[i] = (a)[i] < (b)[i]; break;            \
    case EQUAL: EACH_LANE r[i] = (a)[i] == (b)[i]; break;          \
    case LESS_EQUAL: EACH_LANE r[i] = (a)[i] <= (b)[i]; break;     \
    case GREATER: EACH_LANE r[i] = (a)[i] > (b)[i]; break;         \
    case NOT_EQUAL: EACH_LANE r[i] = (a)[i] != (b)[i]; break;      \
    case GREATER_EQUAL: EACH_LANE r[i] = (a)[i] >= (b)[i]; break;  \
    default: memset(r, (how) == ALWAYS, LANES);                    \
    }

// Both predicates of a comparison: the result and its opposite, joined to a third.
static inline void put_both(Chunk *s, const Step *t, i64 w, u32 m, u32 bits, int how) {
    u32 other = flag(s, &t->flag_in[0], w);
    put_flag(s, &t->flag_out[0], w, combined(how, bits, other), m);
    put_flag(s, &t->flag_out[1], w, combined(how, ~bits, other), m);
}

// The comparison of upper words goes on from that of the lower ones.
static inline u32 extend(int how, u32 high, u32 strict, u32 same, u32 low) {
    if (how == EQUAL) return high & low;
    if (how == NOT_EQUAL) return high | low;
    return strict | (same & low);
}

// mode: comparison, combination, unsigned, extended
OPERATION(compare) {
    u32 x[LANES], y[LANES];
    u8 r[LANES], same[LANES], strict[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y);
    const i32 *signed_a = (const i32 *)a, *signed_b = (const i32 *)b;
    if (t->mode[2]) { COMPARED(t->mode[0], a, b, r) }
    else { COMPARED(t->mode[0], signed_a, signed_b, r) }
    u32 bits = packed(r);
    if (t->mode[3]) {
        int how = t->mode[0], less = how == LESS || how == LESS_EQUAL ? LESS : GREATER;
        EACH_LANE same[i] = a[i] == b[i];
        if (t->mode[2]) { COMPARED(less, a, b, strict) }
        else { COMPARED(less, signed_a, signed_b, strict) }
        bits = extend(how, bits, packed(strict), packed(same), flag(s, &t->flag_in[1], w));
    }
    put_both(s, t, w, m, bits, t->mode[1]);
}

OPERATION(compare_wide) {
    u64 a[LANES], b[LANES];
    u8 r[LANES];
    wide(s, &t->in[0], w, a);
    wide(s, &t->in[1], w, b);
    const i64 *signed_a = (const i64 *)a, *signed_b = (const i64 *)b;
    if (t->mode[2]) { COMPARED(t->mode[0], a, b, r) }
    else { COMPARED(t->mode[0], signed_a, signed_b, r) }
    put_both(s, t, w, m, packed(r), t->mode[1]);
}

// mode: unsigned
OPERATION(minimum) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y), least = flag(s, &t->flag_in[0], w);
    u32 signs = t->mode[0] ? 0 : 0x80000000u;
    EACH_LANE {
        u32 first_is_less = (a[i] ^ signs) < (b[i] ^ signs);
        r[i] = first_is_less == (least >> i & 1) ? a[i] : b[i];
    }
    put(s, &t->out, w, r, m);
}

OPERATION(absolute) {
    u32 x[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x);
    EACH_LANE r[i] = (i32)a[i] < 0 ? 0 - a[i] : a[i];
    put(s, &t->out, w, r, m);
}

// mode: amount
OPERATION(shifted_add_of_words) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y);
    u32 amount = (u32)t->mode[0];
    EACH_LANE r[i] = (a[i] << amount) + b[i];
    put(s, &t->out, w, r, m);
}

// mode: amount, upper word of {c, a} << amount, c is the sign of a
OPERATION(shifted_add) {
    u32 x[LANES], y[LANES], z[LANES];
    u64 total[LANES];
    const u32 *a = raw(s, &t->in[0], w, x);
    u32 amount = (u32)t->mode[0];
    extended(s, &t->in[1], w, total);
    if (t->mode[1]) {
        const u32 *high = y;
        if (t->mode[2]) EACH_LANE y[i] = (u32)((i32)a[i] >> 31);
        else high = raw(s, &t->in[2], w, y);
        EACH_LANE z[i] = high[i] << amount | (amount ? a[i] >> (32 - amount) : 0);
    } else {
        EACH_LANE z[i] = a[i] << amount;
    }
    if (t->in[0].change & (INVERTED | NEGATED)) EACH_LANE z[i] = ~z[i];
    EACH_LANE total[i] += (u64)z[i] + (t->in[0].change & NEGATED ? 1 : 0);
    if (t->flag_in[0].kind != NOTHING) {
        u32 bits = flag(s, &t->flag_in[0], w);
        EACH_LANE total[i] += bits >> i & 1;
    }
    put_with_carries(s, t, w, total, m);
}

static inline u32 chosen(u32 choice, u32 first, u32 second) { return (choice & first) | (~choice & second); }

static inline u32 truth(u32 table, u32 a, u32 b, u32 c) {
#define ROW(n) (table >> n & 1 ? ALL : 0)
    u32 upper = chosen(b, chosen(c, ROW(7), ROW(6)), chosen(c, ROW(5), ROW(4)));
    u32 lower = chosen(b, chosen(c, ROW(3), ROW(2)), chosen(c, ROW(1), ROW(0)));
    return chosen(a, upper, lower);
#undef ROW
}

#define FAMILIAR(table, expression) case table: EACH_LANE r[i] = expression; break;

// mode: table, and instead of or
OPERATION(logic) {
    u32 x[LANES], y[LANES], z[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y), *c = integer(s, &t->in[2], w, z);
    switch (t->mode[0]) {
        FAMILIAR(0xC0, a[i] & b[i])
        FAMILIAR(0xFC, a[i] | b[i])
        FAMILIAR(0x3C, a[i] ^ b[i])
        FAMILIAR(0x96, a[i] ^ b[i] ^ c[i])
        FAMILIAR(0xF8, a[i] | (b[i] & c[i]))
        FAMILIAR(0x33, ~b[i])
    default: EACH_LANE r[i] = truth((u32)t->mode[0], a[i], b[i], c[i]);
    }
    put(s, &t->out, w, r, m);
    if (t->flag_out[0].kind != NOTHING) {
        u8 any[LANES];
        EACH_LANE any[i] = r[i] != 0;
        u32 other = flag(s, &t->flag_in[0], w);
        put_flag(s, &t->flag_out[0], w, t->mode[1] ? packed(any) & other : packed(any) | other, m);
    }
}

// mode: both tables
OPERATION(predicate_logic) {
    u32 a = flag(s, &t->flag_in[0], w), b = flag(s, &t->flag_in[1], w), c = flag(s, &t->flag_in[2], w);
    put_flag(s, &t->flag_out[0], w, truth((u32)t->mode[0], a, b, c), m);
    put_flag(s, &t->flag_out[1], w, truth((u32)t->mode[1], a, b, c), m);
}

// mode: left, signed, wraps, limit, upper word
OPERATION(shift) {
    u32 x[LANES], y[LANES], z[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = raw(s, &t->in[1], w, y), *c = raw(s, &t->in[2], w, z);
    u32 limit = (u32)t->mode[3], wraps = (u32)t->mode[2];
    EACH_LANE {
        u32 amount = wraps ? b[i] & limit : b[i] < limit + 1 ? b[i] : limit + 1;
        u64 both = (u64)c[i] << 32 | a[i], shifted;
        if (t->mode[0]) shifted = amount < 64 ? both << amount : 0;
        else if (t->mode[1]) shifted = (u64)((i64)both >> (amount < 64 ? amount : 63));
        else shifted = amount < 64 ? both >> amount : 0;
        r[i] = (u32)(t->mode[4] ? shifted >> 32 : shifted);
    }
    put(s, &t->out, w, r, m);
}

// The usual shifts of one word. mode: left, signed, wraps
OPERATION(shift_word) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = raw(s, &t->in[1], w, y);
    u32 wraps = (u32)t->mode[2];
    if (t->mode[0]) EACH_LANE r[i] = b[i] < 32 || wraps ? a[i] << (b[i] & 31) : 0;
    else if (t->mode[1]) EACH_LANE r[i] = (u32)((i32)a[i] >> (b[i] < 32 || wraps ? b[i] & 31 : 31));
    else EACH_LANE r[i] = b[i] < 32 || wraps ? a[i] >> (b[i] & 31) : 0;
    put(s, &t->out, w, r, m);
}

OPERATION(permute) {
    u32 x[LANES], y[LANES], z[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *select = raw(s, &t->in[1], w, y), *b = raw(s, &t->in[2], w, z);
    memset(r, 0, sizeof r);
    for (int place = 0; place < 4; place++) {
        EACH_LANE {
            u32 nibble = select[i] >> 4 * place & 15;
            u32 word = nibble & 4 ? b[i] : a[i];
            u32 byte = word >> 8 * (nibble & 3) & 255;
            byte = nibble & 8 ? (byte >> 7) * 255 : byte;
            r[i] |= byte << 8 * place;
        }
    }
    put(s, &t->out, w, r, m);
}

OPERATION(select_word) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x), *b = integer(s, &t->in[1], w, y), bits = flag(s, &t->flag_in[0], w);
    EACH_LANE r[i] = bits >> i & 1 ? a[i] : b[i];
    put(s, &t->out, w, r, m);
}

OPERATION(move) {
    u32 x[LANES];
    put(s, &t->out, w, integer(s, &t->in[0], w, x), m);
}

OPERATION(move_wide) {
    u64 a[LANES];
    pair(s, &t->in[0], w, a);
    put_pair(s, &t->out, w, a, m);
}

OPERATION(count_bits) {
    u32 x[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x);
    EACH_LANE r[i] = (u32)__builtin_popcount(a[i]);
    put(s, &t->out, w, r, m);
}

OPERATION(reverse_bits) {
    u32 x[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x);
    EACH_LANE {
        u32 v = a[i];
        v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
        v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
        v = (v >> 4 & 0x0F0F0F0Fu) | (v & 0x0F0F0F0Fu) << 4;
        v = (v >> 8 & 0x00FF00FFu) | (v & 0x00FF00FFu) << 8;
        r[i] = v >> 16 | v << 16;
    }
    put(s, &t->out, w, r, m);
}

// mode: unsigned, from the top
OPERATION(leading_one) {
    u32 x[LANES], r[LANES];
    u8 any[LANES];
    const u32 *a = integer(s, &t->in[0], w, x);
    EACH_LANE {
        u32 v = t->mode[0] || (i32)a[i] >= 0 ? a[i] : ~a[i];
        u32 from_top = v ? (u32)__builtin_clz(v) : 0;
        any[i] = v != 0;
        r[i] = v == 0 ? ALL : t->mode[1] ? from_top : 31 - from_top;
    }
    put(s, &t->out, w, r, m);
    put_flag(s, &t->flag_out[0], w, packed(any), m);
}

// mode: unsigned, wraps
OPERATION(extend_sign) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = raw(s, &t->in[1], w, y);
    EACH_LANE {
        u32 width = t->mode[1] ? b[i] & 31 : b[i] < 32 ? b[i] : 32, unused = 32 - width;
        u32 shifted = (u32)((u64)a[i] << unused);
        r[i] = t->mode[0] ? (u32)((u64)shifted >> unused) : (u32)((i64)(i32)shifted >> unused);
    }
    put(s, &t->out, w, r, m);
}

// mode: wraps
OPERATION(bit_mask) {
    u32 x[LANES], y[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = raw(s, &t->in[1], w, y);
    EACH_LANE {
        u32 start = t->mode[0] ? a[i] & 31 : a[i] < 32 ? a[i] : 32;
        u32 width = t->mode[0] ? b[i] & 31 : b[i] < 32 ? b[i] : 32;
        r[i] = (u32)((((u64)1 << width) - 1) << start);
    }
    put(s, &t->out, w, r, m);
}

// mode: mask, shift, uniform
OPERATION(pack_predicates) {
    u32 x[LANES], r[LANES];
    const u32 *a = raw(s, &t->in[0], w, x);
    u32 keep = (u32)t->mode[0], at = (u32)t->mode[1];
    EACH_LANE r[i] = a[i] & ~(keep << at);
    for (int n = 0; n < 7; n++) {
        if (!(keep >> n & 1)) continue;
        Operand one = {t->mode[2] ? UNIFORM_PREDICATE : PREDICATE, n, 0, 0, 0};
        u32 bits = flag(s, &one, w);
        EACH_LANE r[i] |= (bits >> i & 1) << (n + at);
    }
    put(s, &t->out, w, r, m);
}

// mode: mask, shift
OPERATION(unpack_predicates) {
    u32 x[LANES];
    u8 set[LANES];
    const u32 *a = raw(s, &t->in[0], w, x);
    for (int n = 0; n < 7; n++) {
        if (!(t->mode[0] >> n & 1)) continue;
        EACH_LANE set[i] = a[i] >> (n + t->mode[1]) & 1;
        Operand one = {PREDICATE, n, 0, 0, 0};
        put_flag(s, &one, w, packed(set), m);
    }
}
