/* Lines, sectors and banks of accesses, one warp's instruction each, as `aligned_units.py` and `banks.py` have them. */

#include <stdint.h>
#include <string.h>

enum { BANKS = 32, TAG_BANKS = 4, WIDEST = 128, SLOT_BITS = 8, SLOTS = 1 << SLOT_BITS };
enum { REAL, INTEGER, FLAG };

static const uint64_t MIXING = 0x9E3779B97F4A7C15u; /* odd, its bits well mixed */

/* Row, number and different addresses of every distinct unit of 2 ** shift bytes of the accesses, row by row; how many.

   limit : of the mixed number of a line, above which its sectors are left out; 0 for none. units, begin : of each pattern, how many it has and where they begin in `number`, which counts from the base, and in
   `addresses_of`. */
int64_t listed(
    int64_t n, const int32_t *pattern, const uint64_t *base, int64_t shift, const int64_t *units,
    const int64_t *begin, const int64_t *number, const int64_t *addresses_of, uint64_t factor, uint64_t limit,
    int64_t *row, int64_t *unit, int64_t *addresses
)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = begin[pattern[i]], to = from + units[pattern[i]], first = base[i] >> shift;
        for (int64_t k = from; k < to; k++) {
            if (limit && (uint64_t)((first + number[k]) >> 2) * factor >= limit)
                continue;
            row[at] = i;
            unit[at] = first + number[k];
            addresses[at++] = addresses_of[k];
        }
    }
    return at;
}

/* Cycles of the tag stage for each access: its lines in the fullest bank. */
void tag_cycles(
    int64_t n, const int32_t *pattern, const uint64_t *base, int64_t shift, const int64_t *lines,
    const int64_t *begin, const int64_t *number, int64_t *cycles
)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t loads[TAG_BANKS] = {0}, from = begin[pattern[i]], to = from + lines[pattern[i]], most = 0;
        for (int64_t k = from; k < to; k++) {
            uint64_t line = (base[i] >> shift) + (uint64_t)number[k];
            for (int half = 32; half > 1; half >>= 1)
                line ^= line >> half;
            int64_t now = ++loads[line & (TAG_BANKS - 1)];
            most = now > most ? now : most;
        }
        cycles[i] = most;
    }
}

/* Distinct values of each row, (n,), and how many of its active ones have the most frequent value. */
void distinct(
    int64_t n, int64_t width, const uint64_t *values, const uint8_t *active, int64_t *different, int64_t *most_alike
)
{
    uint64_t held[SLOTS];
    int64_t row_of[SLOTS], times[SLOTS]; /* a slot is free where it holds nothing of this row */
    for (int64_t k = 0; k < SLOTS; k++)
        row_of[k] = -1;
    for (int64_t i = 0; i < n; i++, values += width, active += width) {
        int64_t count = 0, most = 0;
        for (int64_t k = 0; k < width; k++) {
            if (!active[k])
                continue;
            uint64_t at = values[k] * MIXING >> (64 - SLOT_BITS);
            while (row_of[at] == i && held[at] != values[k])
                at = (at + 1) & (SLOTS - 1);
            if (row_of[at] != i) {
                row_of[at] = i;
                held[at] = values[k];
                times[at] = 0;
                count++;
            }
            times[at]++;
            most = times[at] > most ? times[at] : most;
        }
        different[i] = count;
        most_alike[i] = most;
    }
}

/* Words in the fullest bank of each row, (n,): different ones, and of all active ones. */
void fullest_banks(
    int64_t n, int64_t width, const uint64_t *words, const uint8_t *active, int64_t *different, int64_t *all
)
{
    for (int64_t i = 0; i < n; i++, words += width, active += width) {
        uint8_t own[BANKS] = {0}, every[BANKS] = {0}, last[BANKS], before[WIDEST], most = 0, most_of_all = 0;
        for (int64_t k = 0; k < width; k++) {
            if (!active[k])
                continue;
            int64_t bank = words[k] % BANKS, known = 0;
            for (int64_t other = last[bank], left = own[bank]; left > 0 && !known; other = before[other], left--)
                known = words[other] == words[k];
            if (!known) {
                before[k] = last[bank];
                last[bank] = k;
                own[bank]++;
            }
            every[bank]++;
            most = own[bank] > most ? own[bank] : most;
            most_of_all = every[bank] > most_of_all ? every[bank] : most_of_all;
        }
        different[i] = most;
        all[i] = most_of_all;
    }
}

/* How often the key of each entry occurs, and how often it occurred before, (n,) each; keys from 0 to below `keys`. */
void occurrences(int64_t n, const int64_t *key, int64_t keys, int64_t *total, int64_t *count, int64_t *before)
{
    memset(total, 0, keys * sizeof *total);
    for (int64_t i = 0; i < n; i++)
        before[i] = total[key[i]]++;
    for (int64_t i = 0; i < n; i++)
        count[i] = total[key[i]];
}

/* Values, of which `kind` tells the type, times weights, summed by group; sums : zeros. */
void weighted_sums(
    int64_t n, const int32_t *group, int64_t kind, const void *values, const double *weight, double *sums
)
{
    const double *reals = values;
    const int64_t *integers = values;
    const uint8_t *flags = values;
    for (int64_t i = 0; i < n; i++)
        sums[group[i]] += (kind == REAL ? reals[i] : kind == INTEGER ? (double)integers[i] : flags[i]) * weight[i];
}
