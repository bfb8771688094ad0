// Branches, convergence and barriers, where all lanes of the group go the same way: control_flow.py and convergence.py
// in C. Where they part or must wait, the caller goes on with the handler of NumPy.

// Whether a jump back must be left to the caller: others may have to run first.
static int back(const Chunk *s, i64 at, i64 target) {
    if (target > at) return 0;
    return target == at || s->polled || (s->others && s->turns + 1 >= s->most_turns);
}

static int nothing(Chunk *s, const Step *t) {
    (void)s, (void)t;
    return DONE;
}

// Conditions: the guard, flag_in[0], flag_in[1]
static int branch(Chunk *s, const Step *t) {
    int jumping = 0, staying = 0;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        u32 m = taking_part(s, t, k, w);
        for (int n = 0; n < 2; n++) m &= t->flag_in[n].kind == NOTHING ? ALL : flag(s, &t->flag_in[n], w);
        jumping |= m != 0;
        staying |= m != s->masks[k];
        if (jumping && staying) return STOP;
    }
    s->next = t->target;
    return staying ? DONE : JUMP;
}

// To the place that a register of every lane names, in bytes, if it is the same one. mode: bytes to add
static int branch_to_register(Chunk *s, const Step *t) {
    i64 target = -1;
    for (i64 k = 0; k < s->count; k++) {
        const i64 w = s->warps[k];
        const u32 m = s->masks[k];
        u32 room[LANES];
        const u32 *bytes = raw(s, &t->in[0], w, room);
        if (taking_part(s, t, k, w) != m) return STOP;
        for (u32 rest = m; rest; rest &= rest - 1) {
            i64 place = (i64)(i32)(bytes[__builtin_ctz(rest)] + (u32)t->mode[0]);
            if (target >= 0 && place != target) return STOP;
            target = place;
        }
    }
    if (target < 0 || target % 16) return STOP;
    s->next = target / 16;
    return back(s, t - s->code, s->next) ? STOP : JUMP;
}

// mode: barrier register
static int set_convergence(Chunk *s, const Step *t) {
    for (i64 k = 0; k < s->count; k++) {
        const u32 m = s->masks[k];
        u32 *row = s->convergence + t->mode[0] * s->convergence_row + LANES * s->warps[k];
        EACH_LANE row[i] = m >> i & 1 ? m : row[i];
    }
    return DONE;
}

static int await_convergence(Chunk *s, const Step *t) {
    for (i64 k = 0; k < s->count; k++) {
        const u32 m = s->masks[k];
        const u32 *row = s->convergence + t->mode[0] * s->convergence_row + LANES * s->warps[k];
        u32 missing = 0;
        EACH_LANE missing |= m >> i & 1 ? row[i] ^ m : 0;
        if (missing || taking_part(s, t, k, s->warps[k]) != m) return STOP;
    }
    return DONE;
}

// The whole warps are here, or all living threads of the chunk. mode: 0, 1
static int await_others(Chunk *s, const Step *t) {
    if (t->guard.kind != NOTHING) return STOP;
    if (t->mode[0]) return s->whole ? DONE : STOP;
    for (i64 k = 0; k < s->count; k++)
        if (s->masks[k] != ALL) return STOP;
    return DONE;
}
