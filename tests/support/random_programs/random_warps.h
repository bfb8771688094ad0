// The host's side of random programs: atomics one after the other, and what the lanes of a warp give each other.
template <class T, class G> T changed(T* at, G g) { T before = *at; *at = g(before); return before; }
template <class T> T atomicAdd(T* at, T x) { return changed(at, [x](T y) { return (T)(y + x); }); }
template <class T> T atomicMin(T* at, T x) { return changed(at, [x](T y) { return y < x ? y : x; }); }
template <class T> T atomicMax(T* at, T x) { return changed(at, [x](T y) { return y > x ? y : x; }); }
template <class T> T atomicAnd(T* at, T x) { return changed(at, [x](T y) { return y & x; }); }
template <class T> T atomicOr(T* at, T x) { return changed(at, [x](T y) { return y | x; }); }
template <class T> T atomicXor(T* at, T x) { return changed(at, [x](T y) { return y ^ x; }); }
template <class T> T atomicSub(T* at, T x) { return changed(at, [x](T y) { return (T)(y - x); }); }
template <class T> T atomicExch(T* at, T x) { return changed(at, [x](T) { return x; }); }
FN u32 atomicInc(u32* at, u32 x) { return changed(at, [x](u32 y) { return y >= x ? 0 : y + 1; }); }
FN u32 atomicDec(u32* at, u32 x) { return changed(at, [x](u32 y) { return y == 0 || y > x ? x : y - 1; }); }
template <class T> T atomicCAS(T* at, T from, T to) { return changed(at, [=](T y) { return y == from ? to : y; }); }
FN u32 nth_bit(u32 mask, u32 n);

FN u32 together(u32 count, u32 threads) { return count | (u32)(count == threads) << 16 | (u32)(count > 0) << 17; }
struct Lanes { u32 mask; int own; };  // who takes part, and which of them asks
template <class T> T sent(Lanes w, const T* x, const u32* n, u32 width)
{
    return x[(w.own & ~(width - 1)) | (n[w.own] & (width - 1))];
}
template <class T> T sent_up(Lanes w, const T* x, const u32* n, u32 width)
{
    const int from = w.own - (int)n[w.own];
    return x[from < (w.own & ~((int)width - 1)) ? w.own : from];
}
template <class T> T sent_down(Lanes w, const T* x, const u32* n, u32 width)
{
    const int from = w.own + (int)n[w.own];
    return x[from > (w.own | ((int)width - 1)) ? w.own : from];
}
template <class T> T sent_across(Lanes w, const T* x, const u32* n, u32 width)
{
    const int from = w.own ^ (int)n[w.own];
    return x[from > (w.own | ((int)width - 1)) ? w.own : from];
}
template <class T> T sent_within(Lanes w, const T* x, const u32* n, u32) { return x[nth_bit(w.mask, n[w.own])]; }
template <class G> u32 where(Lanes w, G g) { u32 r = 0; for (int i = 0; i < 32; i++) r |= (u32)((w.mask >> i & 1) && g(i)) << i; return r; }
FN u32 ballot(Lanes w, const u32* x, const u32*, u32) { return where(w, [=](int i) { return x[i] & 1; }); }
FN u32 any_all(Lanes w, const u32* x, const u32* n, u32)
{   // each lane asks about its own number: any and all hear what every lane has found
    const u32 same = where(w, [=](int i) { return x[i] == n[i]; }), least = where(w, [=](int i) { return x[i] <= n[i]; });
    return (same != 0) << 1 | (least == w.mask);
}
template <class T> u32 alike(Lanes w, const T* x, const u32*, u32) { return where(w, [=](int i) { return x[i] == x[w.own]; }); }
template <class T> u32 all_alike(Lanes w, const T* x, const u32* n, u32 k)
{
    return alike(w, x, n, k) == w.mask ? w.mask ^ 1 : 0;
}
template <class T, class G> T gathered(Lanes w, const T* x, G g)
{
    T all = 0;
    bool first = true;
    for (int i = 0; i < 32; i++)
        if (w.mask >> i & 1) { all = first ? x[i] : g(all, x[i]); first = false; }
    return all;
}
template <class T> T summed(Lanes w, const T* x, const u32*, u32) { return gathered(w, x, [](T a, T b) { return (T)((u32)a + (u32)b); }); }
template <class T> T smallest(Lanes w, const T* x, const u32*, u32) { return gathered(w, x, [](T a, T b) { return a < b ? a : b; }); }
template <class T> T largest(Lanes w, const T* x, const u32*, u32) { return gathered(w, x, [](T a, T b) { return a > b ? a : b; }); }
FN u32 folded(Lanes w, const u32* x, const u32*, u32)
{
    return gathered(w, x, [](u32 a, u32 b) { return a & b; }) ^ gathered(w, x, [](u32 a, u32 b) { return a | b; })
         ^ gathered(w, x, [](u32 a, u32 b) { return a ^ b; });
}
template <class T> T scanned(Lanes w, const T* x, const u32*, u32)
{   // in the order of the sums by shuffles
    T now[32], next[32];
    for (int i = 0; i < 32; i++) now[i] = x[i];
    for (int d = 1; d < 32; d *= 2) {
        for (int i = 0; i < 32; i++) next[i] = i >= d ? now[i] + now[i - d] : now[i];
        memcpy(now, next, sizeof now);
    }
    return now[w.own];
}
template <class T> T tree(Lanes w, const T* x, const u32*, u32)
{
    T now[32], next[32];
    for (int i = 0; i < 32; i++) now[i] = x[i];
    for (int d = 16; d; d /= 2) {
        for (int i = 0; i < 32; i++) next[i] = now[i] + now[i + d > 31 ? i : i + d];
        memcpy(now, next, sizeof now);
    }
    return now[w.own];
}
template <class T> T sorted(Lanes w, const T* x, const u32*, u32)
{
    T now[32];
    for (int i = 0; i < 32; i++) {
        int at = i;
        for (; at && x[i] < now[at - 1]; at--) now[at] = now[at - 1];
        now[at] = x[i];
    }
    return now[w.own];
}
FN u32 counted_apart(Lanes w, const u32* x, const u32* n, u32)
{
    u32 r = 0;
    for (int i = 0; i < w.own; i++) r += x[i] == x[w.own];
    return r * 64 + n[w.own];
}
FN u32 drained(Lanes w, const u32* x, const u32* n, u32)
{
    u32 now[32], r = n[w.own], most = 0;
    for (int i = 0; i < 32; i++) { now[i] = x[i] & 15; most = now[i] > most ? now[i] : most; }
    for (u32 i = 0; i < most; i++) {
        const u32 y = now[(w.own + 1) & 31];
        r = now[w.own] ? r * 3 + y : r ^ i;
        for (u32& one : now) one -= one > 0;
    }
    return r;
}
FN u32 diverged(Lanes w, const u32* x, const u32* n, u32)
{
    u32 odd = 0, none = 0, mine = 0;
    for (int lane = 0; lane < 32; lane++) {
        u32 r = x[lane];
        for (u32 i = 0; i < (n[lane] & 7); i++) {
            r = r * 5 + i;
            if ((r & 15) == 3) continue;
            if ((r & 63) == 9) break;
            r ^= r >> 7;
        }
        odd |= (r & 1) << lane;
        none += (r & 6) == 0;
        if (lane == w.own) mine = r;
    }
    return mine + odd + none;
}
