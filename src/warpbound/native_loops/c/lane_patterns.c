/* Bases and patterns of lanes of warp-wide accesses, as `emulate/lane_patterns.py` has them. */

#include <stdint.h>
#include <stdlib.h>

enum { LANES = 32 };

/* Numbers of keys in the order of their first occurrence; a slot is free where it is 0. */
typedef struct {
    int64_t *slots; /* number + 1 */
    int64_t room, count;
} Table;

static int allocated(Table *t, int64_t n)
{
    t->count = 0;
    for (t->room = 16; t->room < 2 * n; t->room *= 2)
        ;
    t->slots = calloc(t->room, sizeof *t->slots);
    return t->slots != NULL;
}

/* The number of a key; first : where each key occurred first. keys : of all entries up to this one. */
static int64_t number_of(Table *t, const uint64_t *keys, int64_t entry, int64_t *first)
{
    uint64_t key = keys[entry];
    int64_t at = (key ^ key >> 32) & (t->room - 1), number;
    for (; (number = t->slots[at] - 1) >= 0; at = (at + 1) & (t->room - 1))
        if (keys[first[number]] == key)
            return number;
    t->slots[at] = ++t->count;
    first[t->count - 1] = entry;
    return t->count - 1;
}

/* Numbers of equal keys, (n,), and where each occurs first; how many are different, -1 where memory is lacking. */
int64_t number_keys(int64_t n, const uint64_t *keys, int64_t *number, int64_t *first)
{
    Table t;
    if (!allocated(&t, n))
        return -1;
    for (int64_t i = 0; i < n; i++)
        number[i] = number_of(&t, keys, i, first);
    free(t.slots);
    return t.count;
}

/* The base of each access, a multiple of `alignment`, and the sum that tells its pattern, (n,) each.

   active : lanes that take part; NULL for all. factors : of each lane. inactive : the offset of a lane that takes no
   part. */
void lane_sums(
    int64_t n, const uint64_t *addresses, const uint8_t *active, uint64_t alignment, const uint64_t *factors,
    uint64_t inactive, uint64_t *base, uint64_t *sum
)
{
    for (int64_t i = 0; i < n; i++, addresses += LANES) {
        uint64_t least = ~(uint64_t)0, total = 0;
        const uint8_t *on = active ? active + i * LANES : NULL;
        for (int64_t k = 0; k < LANES; k++)
            least = (!on || on[k]) && addresses[k] < least ? addresses[k] : least;
        least &= ~(alignment - 1);
        for (int64_t k = 0; k < LANES; k++)
            total += (!on || on[k] ? addresses[k] - least : inactive) * factors[k];
        base[i] = least;
        sum[i] = total;
    }
}
