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

// mode: which of the special registers, two words
OPERATION(read_special) {
    u32 r[LANES];
    memcpy(r, s->special[t->mode[0]] + LANES * w, sizeof r);
    put(s, &t->out, w, r, m);
    if (t->mode[1]) {
        fill(r, 0);
        put_part(s, &t->out, w, 1, r, m);
    }
}
