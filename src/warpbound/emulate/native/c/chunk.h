// What the interpreter works on: a chunk of warps, the code, and how operands are read and results written.
//
// A register is a row of one word per lane, as in warpbound/emulate/state.py; warp w owns words 32 w to 32 w + 31.
// A mask has one bit per lane of a warp.

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;

#define LANES 32
#define EACH_LANE for (int i = 0; i < LANES; i++)
#define ALL 0xFFFFFFFFu
#define BANKS 32
#define WIDTHS 5  // of accesses: 1, 2, 4, 8 and 16 bytes

enum kind { NOTHING, REGISTER, UNIFORM, CONSTANT, PREDICATE, UNIFORM_PREDICATE, BANK };
enum change { ABSOLUTE = 1, INVERTED = 2, NEGATED = 4 };
enum outcome { DONE, STOP, JUMP };

typedef struct {
    i32 kind, index, change;
    u32 value, upper;  // of a constant: its words; value of a word of a bank: its number there; of a term: its factor
} Operand;

typedef struct {
    i32 operation, target, polls, writes;
    i32 mode[6];
    Operand guard, out, in[4], flag_out[2], flag_in[3];
} Step;

typedef struct {
    const Step *code;
    i64 length;
    u32 *rows, *convergence, *uniform;
    u8 *predicates, *uniform_predicates;
    i64 row, convergence_row, predicate_row, warp_count;  // rows: distances in elements
    const i64 *selected;  // warps; NULL: all
    const u8 *lanes;      // of the selected warps that take part; NULL: all
    i64 count;            // selected warps
    i64 *warps;           // room for their numbers
    u32 *masks;           // room for their masks
    i64 *places;          // room for an address of every lane
    const u8 *ready;      // instructions at which other lanes wait to go on
    u8 *shared, *local;
    const i64 *shared_base, *local_base;  // of every warp's first lane, B
    i64 shared_size, local_size;
    u8 *image;
    u64 base;
    i64 slot_bits, allocations;  // slot_bits 0: one heap
    const i64 *starts, *ends[WIDTHS];
    u8 *was_read, *was_stored;  // of each allocation
    const u32 *banks[BANKS];
    i64 bank_words[BANKS];
    const u32 *const *special;  // rows over the lanes of a block
    const i64 *blocks;          // their numbers in the grid
    i64 grid[3], block_warps, sms, cluster;
    i64 steps, budget, turns, most_turns, clock, next;  // clock: when the steps begin. next: where a jump leads
    i32 chosen, others, polled, wrote, whole, changed;
} Chunk;

typedef int Operation(Chunk *s, const Step *t);

// --- masks and predicates ---

static inline u32 packed(const u8 *flags) {
    u32 bits = 0;
    for (int n = 0; n < 4; n++) {
        u64 eight;
        memcpy(&eight, flags + 8 * n, 8);
        bits |= (u32)(eight * 0x0102040810204080u >> 56) << 8 * n;
    }
    return bits;
}

static inline void unpack(u32 bits, u8 *flags) {
    for (int n = 0; n < 4; n++) {
        u64 eight = (u64)(bits >> 8 * n & 255) * 0x0101010101010101u & 0x8040201008040201u;
        eight = (eight + 0x7F7F7F7F7F7F7F7Fu) >> 7 & 0x0101010101010101u;
        memcpy(flags + 8 * n, &eight, 8);
    }
}

static inline u32 flag(const Chunk *s, const Operand *o, i64 w) {
    u32 bits = o->value;
    if (o->kind == PREDICATE)
        bits = packed(s->predicates + o->index * s->predicate_row + LANES * w);
    else if (o->kind == UNIFORM_PREDICATE)
        bits = s->uniform_predicates[o->index * s->warp_count + w] ? ALL : 0;
    return o->change & INVERTED ? ~bits : bits;
}

static inline void put_flag(Chunk *s, const Operand *o, i64 w, u32 bits, u32 m) {
    if (o->kind == PREDICATE) {
        u8 *row = s->predicates + o->index * s->predicate_row + LANES * w;
        unpack(m == ALL ? bits : (bits & m) | (packed(row) & ~m), row);
    } else if (o->kind == UNIFORM_PREDICATE) {
        s->uniform_predicates[o->index * s->warp_count + w] = bits & 1;
    }
}

static inline u32 taking_part(const Chunk *s, const Step *t, i64 k, i64 w) {
    return t->guard.kind ? s->masks[k] & flag(s, &t->guard, w) : s->masks[k];
}

// --- words ---

static inline void fill(u32 *room, u32 value) { EACH_LANE room[i] = value; }

static inline u32 *row_of(const Chunk *s, i64 index, i64 w) { return s->rows + index * s->row + LANES * w; }

// A word of a constant bank; 0 beyond its end.
static inline u32 word_of_bank(const Chunk *s, i64 bank, i64 number) {
    return number >= 0 && number < s->bank_words[bank] ? s->banks[bank][number] : 0;
}

// The word of an operand that is `part` registers further, before any change; `room` may be filled.
static inline const u32 *raw_part(const Chunk *s, const Operand *o, i64 w, int part, u32 *room) {
    if (o->kind == REGISTER) return row_of(s, o->index + part, w);
    if (o->kind == UNIFORM)
        fill(room, s->uniform[(o->index + part) * s->warp_count + w]);
    else if (o->kind == BANK)
        fill(room, word_of_bank(s, o->index, (i64)o->value + part));
    else
        fill(room, part ? o->upper : o->value);
    return room;
}

static inline const u32 *raw(const Chunk *s, const Operand *o, i64 w, u32 *room) { return raw_part(s, o, w, 0, room); }

static inline const u32 *integer(const Chunk *s, const Operand *o, i64 w, u32 *room) {
    const u32 *value = raw(s, o, w, room);
    if (!o->change) return value;
    if (o->change & ABSOLUTE) EACH_LANE room[i] = (i32)value[i] < 0 ? 0 - value[i] : value[i];
    else EACH_LANE room[i] = value[i];
    if (o->change & INVERTED) EACH_LANE room[i] = ~room[i];
    if (o->change & NEGATED) EACH_LANE room[i] = 0 - room[i];
    return room;
}

// A term of a sum of 64 bits: -x as ~x + 1 in 33 bits.
static inline void extended(const Chunk *s, const Operand *o, i64 w, u64 *result) {
    u32 room[LANES];
    const u32 *value = raw(s, o, w, room);
    if (o->change & NEGATED) EACH_LANE result[i] = (u64)~value[i] + 1;
    else if (o->change & INVERTED) EACH_LANE result[i] = ~value[i];
    else EACH_LANE result[i] = value[i];
}

static inline void pair(const Chunk *s, const Operand *o, i64 w, u64 *result) {
    u32 low_room[LANES], high_room[LANES];
    const u32 *low = raw(s, o, w, low_room), *high = raw_part(s, o, w, 1, high_room);
    EACH_LANE result[i] = (u64)high[i] << 32 | low[i];
}

static inline void wide(const Chunk *s, const Operand *o, i64 w, u64 *result) {
    pair(s, o, w, result);
    if (o->change & INVERTED) EACH_LANE result[i] = ~result[i];
    if (o->change & NEGATED) EACH_LANE result[i] = 0 - result[i];
}

static inline void put_part(Chunk *s, const Operand *o, i64 w, int part, const u32 *value, u32 m) {
    if (o->kind == REGISTER) {
        u32 *row = row_of(s, o->index + part, w);
        if (m == ALL) memcpy(row, value, 4 * LANES);
        else EACH_LANE row[i] = m >> i & 1 ? value[i] : row[i];
    } else if (o->kind == UNIFORM) {
        s->uniform[(o->index + part) * s->warp_count + w] = value[0];
    }
}

static inline void put(Chunk *s, const Operand *o, i64 w, const u32 *value, u32 m) { put_part(s, o, w, 0, value, m); }

static inline void put_pair(Chunk *s, const Operand *o, i64 w, const u64 *value, u32 m) {
    u32 part[LANES];
    EACH_LANE part[i] = (u32)value[i];
    put_part(s, o, w, 0, part, m);
    EACH_LANE part[i] = (u32)(value[i] >> 32);
    put_part(s, o, w, 1, part, m);
}

// An operation that looks at one warp at a time: OPERATION(name) { body with s, t, w and the mask m }
#define OPERATION(name)                                                                   \
    static inline void name##_of_warp(Chunk *s, const Step *t, const i64 w, const u32 m); \
    static int name(Chunk *s, const Step *t) {                                            \
        for (i64 k = 0; k < s->count; k++) {                                              \
            const i64 w = s->warps[k];                                                    \
            const u32 m = taking_part(s, t, k, w);                                        \
            if (m) name##_of_warp(s, t, w, m);                                            \
        }                                                                                 \
        return DONE;                                                                      \
    }                                                                                     \
    static inline void name##_of_warp(Chunk *s, const Step *t, const i64 w, const u32 m)
