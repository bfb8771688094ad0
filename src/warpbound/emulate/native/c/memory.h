// Loads and stores of global, shared, local and constant memory: loads_and_stores.py and global_memory.py in C.
//
// All addresses of an access are computed and checked before anything is read or written. Where one is wrong, or not
// of the memory that this file knows, nothing has happened and the caller goes on with the handler of NumPy.

enum term { PAIR, WORD };

// 64-bit addresses. Terms: in[0] to in[2], change 1: one word; in[3]: the rest
static inline void wide_addresses(const Chunk *s, const Step *t, i64 w, u64 *result) {
    u32 room[LANES];
    u64 term[LANES];
    u64 first = (u64)t->in[3].upper << 32 | t->in[3].value;
    EACH_LANE result[i] = first;
    for (int n = 0; n < 3 && t->in[n].kind != NOTHING; n++) {
        if (t->in[n].change == WORD) {
            const u32 *word = raw(s, &t->in[n], w, room);
            EACH_LANE result[i] += word[i];
        } else {
            pair(s, &t->in[n], w, term);
            EACH_LANE result[i] += term[i];
        }
    }
}

// 32-bit addresses. Terms: in[0] to in[2], value: the factor; in[3]: the rest
static inline void narrow_addresses(const Chunk *s, const Step *t, i64 w, u32 *result) {
    u32 room[LANES];
    fill(result, t->in[3].value);
    for (int n = 0; n < 3 && t->in[n].kind != NOTHING; n++) {
        const u32 *word = raw(s, &t->in[n], w, room), factor = t->in[n].value;
        EACH_LANE result[i] += word[i] * factor;
    }
}

static inline int holds(const Chunk *s, i64 number, i64 offset, i64 size, int width) {
    return offset >= s->starts[number] && offset + size <= s->ends[width][number];
}

// The allocation that holds an address, and its offset in the image; -1: none does.
static inline i64 allocation_of(const Chunk *s, u64 address, i64 size, int width, i64 before, i64 *offset) {
    u64 distance = address - s->base;
    if (s->slot_bits) {
        u64 number = distance >> s->slot_bits;
        *offset = (i64)(distance & (((u64)1 << s->slot_bits) - 1));
        if (address < s->base || number >= (u64)s->allocations) return -1;
        return holds(s, (i64)number, *offset, size, width) ? (i64)number : -1;
    }
    *offset = (i64)distance;
    if (before >= 0 && holds(s, before, *offset, size, width)) return before;
    i64 low = 0, high = s->allocations;
    while (low < high) {
        i64 middle = (low + high) / 2;
        if (s->starts[middle] <= *offset) low = middle + 1;
        else high = middle;
    }
    return low && holds(s, low - 1, *offset, size, width) ? low - 1 : -1;
}

// Offsets of a warp's lanes that lie in the allocation of its first one; whether all do.
static inline int places_in_one(const Chunk *s, const u64 *addresses, i64 size, int width, u32 m, i64 *places,
                                i64 *number) {
    i64 offset, found = allocation_of(s, addresses[__builtin_ctz(m)], size, width, *number, &offset);
    if (found < 0) return 0;
    *number = found;
    u64 origin = addresses[__builtin_ctz(m)] - (u64)offset;
    u64 start = (u64)s->starts[found], room = (u64)s->ends[width][found] - (u64)size - start, wrong = 0;
    EACH_LANE {
        u64 active = 0 - (u64)(m >> i & 1), place = addresses[i] - origin;
        wrong |= active & ((u64)(place - start > room) | (addresses[i] & (u64)(size - 1)));
        places[i] = (i64)(place & active);
    }
    return wrong == 0;
}

// Places in the image of all lanes that take part, 0 of the others; whether all are right. mode: size, its logarithm
static int global_places(Chunk *s, const Step *t, u8 *touched, u8 *as_well) {
    i64 size = t->mode[0], number = -1;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        if (!m) continue;
        u64 addresses[LANES];
        wide_addresses(s, t, w, addresses);
        i64 *places = s->places + LANES * k;
        if (places_in_one(s, addresses, size, t->mode[1], m, places, &number)) {
            touched[number] = as_well[number] = 1;
            continue;
        }
        EACH_LANE {
            places[i] = 0;
            if (!(m >> i & 1)) continue;
            number = allocation_of(s, addresses[i], size, t->mode[1], number, &places[i]);
            if (number < 0 || addresses[i] & (u64)(size - 1)) return 0;
            touched[number] = as_well[number] = 1;
        }
    }
    return 1;
}

// Places in shared or local memory, likewise. mode: size
static int window_places(Chunk *s, const Step *t, int is_local) {
    u32 size = (u32)t->mode[0];
    i64 limit = (is_local ? s->local_size : s->shared_size) - size, each = is_local ? s->local_size : 0;
    const i64 *bases = is_local ? s->local_base : s->shared_base;
    if (limit < 0) return 0;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        if (!m) continue;
        u32 addresses[LANES], wrong = 0;
        narrow_addresses(s, t, w, addresses);
        i64 *places = s->places + LANES * k, base = bases[w];
        EACH_LANE {
            u32 active = 0 - (m >> i & 1);
            wrong |= active & ((u32)(addresses[i] > (u32)limit) | (addresses[i] & (size - 1)));
            places[i] = base + i * each + (addresses[i] & active);
        }
        if (wrong) return 0;
    }
    return 1;
}

// A part of a word with its sign. mode[3]: signed
static inline u32 small(const u8 *from, int size, int is_signed) {
    if (size == 1) return is_signed ? (u32)(i32)(int8_t)*from : *from;
    u16 half;
    memcpy(&half, from, 2);
    return is_signed ? (u32)(i32)(int16_t)half : half;
}

// Whether the lanes of a warp access words one after the other.
static inline int in_a_row(const i64 *places) {
    i64 wrong = 0;
    EACH_LANE wrong |= places[i] ^ (places[0] + 4 * i);
    return wrong == 0;
}

static void load_from(Chunk *s, const Step *t, const u8 *memory) {
    const int size = t->mode[0], words = size < 4 ? 1 : size / 4;
    const u32 *whole = (const u32 *)memory;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        if (!m) continue;
        const i64 *places = s->places + LANES * k;
        u32 value[4][LANES];
        if (size == 4 && in_a_row(places)) {
            put(s, &t->out, w, whole + (places[0] >> 2), m);
            continue;
        }
        if (size < 4) EACH_LANE value[0][i] = small(memory + places[i], size, t->mode[3]);
        else
            for (int n = 0; n < words; n++) EACH_LANE value[n][i] = whole[(places[i] >> 2) + n];
        for (int n = 0; n < words; n++) put_part(s, &t->out, w, n, value[n], m);
    }
}

// Of lanes with one address the last one wins.
static void store_to(Chunk *s, const Step *t, u8 *memory) {
    const int size = t->mode[0], words = size < 4 ? 1 : size / 4;
    u32 *whole = (u32 *)memory;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        if (!m) continue;
        const i64 *places = s->places + LANES * k;
        u32 rooms[4][LANES];
        const u32 *value[4];
        for (int n = 0; n < words; n++) value[n] = raw_part(s, &t->out, w, n, rooms[n]);
        if (size == 4 && m == ALL) {
            if (in_a_row(places)) memcpy(whole + (places[0] >> 2), value[0], 4 * LANES);
            else EACH_LANE whole[places[i] >> 2] = value[0][i];
            continue;
        }
        for (u32 rest = m; rest; rest &= rest - 1) {
            int i = __builtin_ctz(rest);
            if (size < 4) memcpy(memory + places[i], &value[0][i], (size_t)size);
            else
                for (int n = 0; n < words; n++) whole[(places[i] >> 2) + n] = value[n][i];
        }
    }
}

static int load_global(Chunk *s, const Step *t) {
    if (!global_places(s, t, s->was_read, s->was_read)) return STOP;
    load_from(s, t, s->image);
    return DONE;
}

static int store_global(Chunk *s, const Step *t) {
    if (!global_places(s, t, s->was_stored, s->was_stored)) return STOP;
    store_to(s, t, s->image);
    return DONE;
}

static int load_window(Chunk *s, const Step *t) {
    if (!window_places(s, t, t->mode[2])) return STOP;
    load_from(s, t, t->mode[2] ? s->local : s->shared);
    return DONE;
}

static int store_window(Chunk *s, const Step *t) {
    if (!window_places(s, t, t->mode[2])) return STOP;
    store_to(s, t, t->mode[2] ? s->local : s->shared);
    return DONE;
}

// A constant bank at the sum of registers. mode: size, unused, bank, signed
OPERATION(load_constant) {
    u32 addresses[LANES], value[LANES];
    const int size = t->mode[0], words = size < 4 ? 1 : size / 4;
    const u32 *bank = s->banks[t->mode[2]];
    i64 last = s->bank_words[t->mode[2]] - 1;
    narrow_addresses(s, t, w, addresses);
    for (int n = 0; n < words; n++) {
        EACH_LANE {
            i64 place = (i64)addresses[i] / 4 + n;
            value[i] = last < 0 ? 0 : bank[place < last ? place : last];
            if (size < 4) {
                value[i] = value[i] >> 8 * (addresses[i] & 3);
                u8 bytes[4];
                memcpy(bytes, &value[i], 4);
                value[i] = small(bytes, size, t->mode[3]);
            }
        }
        put_part(s, &t->out, w, n, value, m);
    }
}
