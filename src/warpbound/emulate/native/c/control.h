// Branches, convergence and barriers, where all lanes of the group go the same way: control_flow.py and convergence.py
// in C. Where they part or must wait, the caller goes on with the handler of NumPy.

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
    return staying ? DONE : JUMP;
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
