// What lanes of a warp tell each other, and special registers: warpbound/emulate/warp_collectives.py in C.

enum shuffle { INDEXED, UP, DOWN, BUTTERFLY };
enum vote { ANY, EVERY, ALIKE };

// mode: shuffle
OPERATION(shuffle) {
    u32 x[LANES], y[LANES], z[LANES], values[LANES], r[LANES];
    u8 valid[LANES];
    const u32 *a = raw(s, &t->in[0], w, x), *b = raw(s, &t->in[1], w, y), *c = raw(s, &t->in[2], w, z);
    EACH_LANE values[i] = m >> i & 1 ? a[i] : 0;
    EACH_LANE {
        int far = b[i] & 31, segment = c[i] >> 8 & 31, most = (i & segment) | (c[i] & 31 & ~segment), j;
        switch (t->mode[0]) {
        case UP: j = i - far; valid[i] = j >= most; break;
        case DOWN: j = i + far; valid[i] = j <= most; break;
        case BUTTERFLY: j = i ^ far; valid[i] = j <= most; break;
        default: j = (i & segment) | (far & ~segment); valid[i] = j <= most;
        }
        r[i] = values[valid[i] ? j & 31 : i];
    }
    put(s, &t->out, w, r, m);
    put_flag(s, &t->flag_out[0], w, packed(valid), m);
}

// mode: vote
OPERATION(vote) {
    u32 set = flag(s, &t->flag_in[0], w) & m, r[LANES];
    int holds = t->mode[0] == ANY ? set != 0 : t->mode[0] == EVERY ? set == m : set == m || set == 0;
    fill(r, set);
    put(s, &t->out, w, r, m);
    put_flag(s, &t->flag_out[0], w, holds ? ALL : 0, m);
}

OPERATION(to_uniform) {
    u32 x[LANES], r[LANES];
    const u32 *a = integer(s, &t->in[0], w, x);
    fill(r, a[__builtin_ctz(m)]);
    put(s, &t->out, w, r, m);
}

static inline void put_special(Chunk *s, const Step *t, i64 w, const u32 *value, u32 m) {
    put(s, &t->out, w, value, m);
    if (t->mode[1]) {
        u32 zeros[LANES] = {0};
        put_part(s, &t->out, w, 1, zeros, m);
    }
}

// Of the threads of a block, the same in all blocks. mode: which, two words
OPERATION(read_of_thread) { put_special(s, t, w, s->special[t->mode[0]] + LANES * (w % s->block_warps), m); }

// mode: axis of the block's index, its SM or its rank in the cluster; two words
OPERATION(read_of_block) {
    u32 r[LANES];
    i64 place = w / s->block_warps, block = s->blocks[place];
    const i64 *grid = s->grid;
    switch (t->mode[0]) {
    case 0: fill(r, (u32)(block % grid[0])); break;
    case 1: fill(r, (u32)(block / grid[0] % grid[1])); break;
    case 2: fill(r, (u32)(block / (grid[0] * grid[1]) % grid[2])); break;
    case 3: fill(r, (u32)(block % s->sms)); break;
    default: fill(r, (u32)(place % s->cluster));
    }
    put_special(s, t, w, r, m);
}

// Steps of the chunk. mode: upper word, two words
OPERATION(read_clock) {
    u32 r[LANES];
    u64 now = (u64)(s->clock + s->steps);
    fill(r, (u32)(t->mode[0] ? now >> 32 : now));
    put(s, &t->out, w, r, m);
    if (!t->mode[1]) return;
    fill(r, (u32)(now >> 32));
    put_part(s, &t->out, w, 1, r, m);
}
