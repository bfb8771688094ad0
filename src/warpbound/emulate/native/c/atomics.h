// Atomics of one or two words on global and shared memory: warpbound/emulate/atomics.py in C. Lanes act one after the
// other.

enum atomic { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCHANGE, A_SWAP, A_COUNT_UP, A_COUNT_DOWN };
enum element { E_UNSIGNED, E_SIGNED, E_FLOAT };

static inline u64 changed_word(int operation, int element, u64 before, u64 value, u64 other, int size) {
    i64 signed_before = size == 4 ? (i32)(u32)before : (i64)before;
    i64 signed_value = size == 4 ? (i32)(u32)value : (i64)value;
    int is_less = element == E_SIGNED ? signed_value < signed_before : value < before;
    int is_more = element == E_SIGNED ? signed_value > signed_before : value > before;
    switch (operation) {
    case A_ADD:
        if (element != E_FLOAT) return before + value;
        if (size == 4) return bits_of(as_float((u32)before) + as_float((u32)value));
        return bits_of_double(as_double(before) + as_double(value));
    case A_MIN: return is_less ? value : before;
    case A_MAX: return is_more ? value : before;
    case A_AND: return before & value;
    case A_OR: return before | value;
    case A_XOR: return before ^ value;
    case A_EXCHANGE: return value;
    case A_SWAP: return before == value ? other : before;
    case A_COUNT_UP: return before >= value ? 0 : before + 1;
    default: return before == 0 || before > value ? value : before - 1;
    }
}

// The most frequent one: integers are added, and nobody asks for the old ones.
static void add_words(Chunk *s, const Step *t, u8 *memory) {
    u32 *whole = (u32 *)memory, room[LANES];
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        const u32 *value = raw(s, &t->flag_out[0], w, room);
        const i64 *places = s->places + LANES * k;
        for (u32 rest = m; rest; rest &= rest - 1) {
            int i = __builtin_ctz(rest);
            whole[places[i] >> 2] += value[i];
        }
        s->changed |= m != 0;
    }
}

// One lane after the other. out: the old word; flag_out[0], flag_out[1]: the value, or compare and swap (registers)
static inline __attribute__((always_inline)) void change_of_size(Chunk *s, const Step *t, u8 *memory, const int size) {
    const int operation = t->mode[3], element = t->mode[4], silent = t->mode[5];
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = taking_part(s, t, k, w);
        if (!m) continue;
        const i64 *places = s->places + LANES * k;
        u64 values[LANES], others[LANES] = {0}, found[LANES] = {0}, different = 0;
        pair(s, &t->flag_out[0], w, values);
        if (operation == A_SWAP) pair(s, &t->flag_out[1], w, others);
        if (size == 4) EACH_LANE values[i] = (u32)values[i];
        for (u32 rest = m; rest; rest &= rest - 1) {
            int i = __builtin_ctz(rest);
            u64 before = 0, after;
            memcpy(&before, memory + places[i], size);
            after = changed_word(operation, element, before, values[i], others[i], size);
            memcpy(memory + places[i], &after, size);
            found[i] = before;
            different |= (after ^ before) << (size == 4 ? 32 : 0);
        }
        s->changed |= silent || different != 0;
        if (silent) continue;
        if (t->mode[2]) {
            u8 same[LANES];
            EACH_LANE same[i] = found[i] == values[i];
            EACH_LANE found[i] = same[i];
            put_flag(s, &t->flag_in[0], w, packed(same), m);
        }
        if (size == 8) {
            put_pair(s, &t->out, w, found, m);
        } else {
            u32 word[LANES];
            EACH_LANE word[i] = (u32)found[i];
            put(s, &t->out, w, word, m);
        }
    }
}

static void change(Chunk *s, const Step *t, u8 *memory) {
    if (t->mode[0] == 4 && t->mode[3] == A_ADD && t->mode[4] != E_FLOAT && t->mode[5]) add_words(s, t, memory);
    else if (t->mode[0] == 4) change_of_size(s, t, memory, 4);
    else change_of_size(s, t, memory, 8);
}

// mode: size, its logarithm, whether the result is success, operation, element, silent. flag_in[0]: success, too
static int change_global(Chunk *s, const Step *t) {
    if (!global_places(s, t, s->was_read, s->was_stored)) return STOP;
    change(s, t, s->image);
    return DONE;
}

static int change_window(Chunk *s, const Step *t) {
    if (!window_places(s, t, 0)) return STOP;
    change(s, t, s->shared);
    return DONE;
}
