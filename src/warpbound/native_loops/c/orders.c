/* Stable orders and groups of equal keys, as `memory/sorted_order.py` defines them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HIGH = 44, DIGIT = 11, RADIX = 1 << DIGIT, MOST_DIGITS = 6, MOST_PARTS = 16 };

/* Bits of a key: those from `shift` on, `width` of them, less the least value there. */
typedef struct {
    const int64_t *key;
    int shift, width;
    uint64_t mask, least;
} Part;

static int bits_of(uint64_t number) { return number ? 64 - __builtin_clzll(number) : 0; }

static uint64_t value_of(const Part *part, int64_t at)
{
    return ((uint64_t)(part->key[at] >> part->shift) & part->mask) - part->least;
}

/* The parts of a key whose values are far apart are those above bit HIGH and those below: gaps between take no bits. */
static int parts_of(const int64_t *key, int64_t n, Part *parts)
{
    int64_t least = key[0], most = key[0], high_least = key[0] >> HIGH, high_most = high_least;
    uint64_t below = ((uint64_t)1 << HIGH) - 1, low_least = key[0] & below, low_most = low_least;
    for (int64_t i = 1; i < n; i++) {
        int64_t x = key[i];
        uint64_t low = (uint64_t)x & below;
        least = x < least ? x : least;
        most = x > most ? x : most;
        low_least = low < low_least ? low : low_least;
        low_most = low > low_most ? low : low_most;
    }
    int whole = bits_of((uint64_t)most - (uint64_t)least);
    if (whole <= HIGH) {
        parts[0] = (Part){key, 0, whole, ~(uint64_t)0, (uint64_t)least};
        return 1;
    }
    high_least = least >> HIGH;
    high_most = most >> HIGH;
    parts[0] = (Part){key, HIGH, bits_of((uint64_t)(high_most - high_least)), ~(uint64_t)0, (uint64_t)high_least};
    parts[1] = (Part){key, 0, bits_of(low_most - low_least), below, low_least};
    return 2;
}

/* The keys and each entry's place, in `place_bits` bits, in one number; 0 where they do not fit, 2 where they ascend. */
static int packed(int64_t n, int64_t count, const int64_t *const *keys, int place_bits, uint64_t *result)
{
    Part parts[MOST_PARTS];
    int several = 0, width = place_bits, ascend = 1;
    for (int64_t k = 0; k < count; k++)
        several += parts_of(keys[k], n, parts + several);
    for (int k = 0; k < several; k++)
        width += parts[k].width;
    if (width > 64)
        return 0;
    for (int64_t i = 0; i < n; i++)
        result[i] = value_of(parts, i);
    for (int k = 1; k < several; k++)
        for (int64_t i = 0; i < n; i++)
            result[i] = (parts[k].width < 64 ? result[i] << parts[k].width : 0) | value_of(parts + k, i);
    uint64_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        ascend &= result[i] >= before;
        before = result[i];
        result[i] = (place_bits < 64 ? result[i] << place_bits : 0) | (uint64_t)i;
    }
    return 1 + ascend;
}

/* Sorts by the bits from `low` on; the result lies where the function says, in `a` or in `b`. */
static uint64_t *sorted(uint64_t *a, uint64_t *b, int64_t n, int low)
{
    static _Thread_local int64_t counts[MOST_DIGITS][RADIX];
    uint64_t varies = 0;
    for (int64_t i = 0; i < n; i++)
        varies |= a[i] ^ a[0];
    int digits = (bits_of(varies >> low) + DIGIT - 1) / DIGIT;
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < digits; d++)
            counts[d][a[i] >> (low + d * DIGIT) & (RADIX - 1)]++;
    for (int d = 0; d < digits; d++) {
        int shift = low + d * DIGIT;
        int64_t *count = counts[d], begin = 0;
        if (count[a[0] >> shift & (RADIX - 1)] == n)
            continue;
        for (int r = 0; r < RADIX; r++) {
            int64_t own = count[r];
            count[r] = begin;
            begin += own;
        }
        for (int64_t i = 0; i < n; i++)
            b[count[a[i] >> shift & (RADIX - 1)]++] = a[i];
        uint64_t *other = a;
        a = b;
        b = other;
    }
    return a;
}

/* The stable order by several keys, the first the most significant; which entries of the order begin a group of equal
   keys; the number of each entry's group. Each result may be left out. 0 where the keys do not fit in 64 bits with the
   places, or memory is lacking. */
int64_t order_by(
    int64_t n, int64_t count, const int64_t *const *keys, int64_t *order, uint8_t *begins, int64_t *number
)
{
    if (n == 0)
        return 1;
    if (count * 2 > MOST_PARTS)
        return 0;
    int place_bits = bits_of((uint64_t)n - 1);
    uint64_t *room = malloc(2 * n * sizeof *room), places = ((uint64_t)1 << place_bits) - 1;
    int fits = room ? packed(n, count, keys, place_bits, room) : 0;
    if (fits) {
        const uint64_t *by_key = fits == 2 ? room : sorted(room, room + n, n, place_bits);
        uint64_t before = ~(by_key[0] >> place_bits);
        int64_t group = -1;
        for (int64_t i = 0; i < n; i++) {
            uint64_t key = by_key[i] >> place_bits, at = by_key[i] & places;
            group += key != before;
            if (order)
                order[i] = at;
            if (begins)
                begins[i] = key != before;
            if (number)
                number[at] = group;
            before = key;
        }
    }
    free(room);
    return fits != 0;
}
