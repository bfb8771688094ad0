/* Sectored caches of least-recently-used lines, one for each place, as `caches.estimate` has them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HIGH = 44, FEW = 1 << 10, NONE = -1, READ = 0 };

typedef struct {
    uint64_t key;
    int32_t newer, older;
    uint8_t valid, dirty; /* a bit for each sector */
} Line;

typedef struct {
    int32_t newest, oldest;
    int64_t held;
} Place;

/* The lines that have been asked for, in the order of their first access, and where each one is found by its key. */
typedef struct {
    Line *lines;
    uint64_t *slots; /* 0: free; else the upper half of the hash above the line's number + 1 */
    Place *places;
    int64_t count, room, most; /* room : slots, a power of 2; most : lines that a place holds */
    int64_t written_back, left_dirty;
} Caches;

static uint64_t mixed(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return key ^ key >> 32;
}

static int grown(Caches *c)
{
    int64_t room = 2 * c->room;
    Line *lines = realloc(c->lines, room / 2 * sizeof *lines);
    if (lines)
        c->lines = lines;
    uint64_t *slots = lines ? calloc(room, sizeof *slots) : NULL;
    if (!slots)
        return 0;
    for (int64_t i = 0; i < c->count; i++) {
        uint64_t hash = mixed(c->lines[i].key);
        int64_t at = hash & (room - 1);
        while (slots[at])
            at = (at + 1) & (room - 1);
        slots[at] = (hash >> 32 << 32) | (uint64_t)(i + 1);
    }
    free(c->slots);
    c->slots = slots;
    c->room = room;
    return 1;
}

/* Number of the line of that key; NONE where memory is lacking. */
static int32_t line_of(Caches *c, uint64_t key)
{
    uint64_t hash = mixed(key);
    int64_t at = hash & (c->room - 1);
    for (uint64_t slot; (slot = c->slots[at]); at = (at + 1) & (c->room - 1))
        if (slot >> 32 == hash >> 32 && c->lines[(uint32_t)slot - 1].key == key)
            return (int32_t)((uint32_t)slot - 1);
    c->slots[at] = (hash >> 32 << 32) | (uint64_t)(c->count + 1);
    c->lines[c->count++] = (Line){key, NONE, NONE, 0, 0};
    int32_t own = (int32_t)(c->count - 1);
    return 2 * c->count < c->room || grown(c) ? own : NONE;
}

static void evict_oldest(Caches *c, Place *home)
{
    Line *victim = c->lines + home->oldest;
    c->written_back += __builtin_popcount(victim->dirty);
    c->left_dirty -= __builtin_popcount(victim->dirty);
    victim->valid = victim->dirty = 0;
    home->oldest = victim->newer;
    if (victim->newer == NONE)
        home->newest = NONE;
    else
        c->lines[victim->newer].older = NONE;
}

/* Make it the newest line of its place; one that was not there takes the room of the oldest. */
static void touch(Caches *c, Place *home, int32_t number)
{
    Line *line = c->lines + number;
    if (home->newest == number)
        return;
    if (!line->valid) {
        if (home->held < c->most)
            home->held++;
        else
            evict_oldest(c, home);
    } else {
        c->lines[line->newer].older = line->older;
        if (line->older == NONE)
            home->oldest = line->newer;
        else
            c->lines[line->older].newer = line->newer;
    }
    line->older = home->newest;
    line->newer = NONE;
    if (home->newest == NONE)
        home->oldest = number;
    else
        c->lines[home->newest].newer = number;
    home->newest = number;
}

static int replay(
    Caches *c, int64_t n, const int64_t *sector, const int8_t *kind, const int64_t *place, uint8_t *hit
)
{
    uint64_t before = ~(uint64_t)0;
    int32_t number = NONE;
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = (uint64_t)place[i] << HIGH | (uint64_t)sector[i] >> 2;
        if (key != before) {
            number = line_of(c, key);
            if (number == NONE)
                return 0;
            touch(c, c->places + place[i], number);
            before = key;
        }
        Line *line = c->lines + number;
        uint8_t bit = 1 << (sector[i] & 3);
        if (hit)
            hit[i] = (line->valid & bit) != 0;
        line->valid |= bit;
        if (kind[i] != READ && !(line->dirty & bit)) {
            line->dirty |= bit;
            c->left_dirty++;
        }
    }
    return 1;
}

/* Which accesses hit in caches of `most` lines after the caches have seen other accesses; sectors written back
   meanwhile and changed ones that are left. places : above the largest place. 0 where memory is lacking. */
int64_t lru(
    int64_t n, const int64_t *sector, const int8_t *kind, const int64_t *place, int64_t n_before,
    const int64_t *sector_before, const int8_t *kind_before, const int64_t *place_before, int64_t places,
    int64_t most, uint8_t *hit, int64_t *changed
)
{
    Caches c = {.room = FEW, .most = most};
    c.lines = malloc(FEW / 2 * sizeof *c.lines);
    c.slots = calloc(FEW, sizeof *c.slots);
    c.places = malloc((places + 1) * sizeof *c.places);
    int done = c.lines && c.slots && c.places;
    for (int64_t p = 0; done && p < places; p++)
        c.places[p] = (Place){NONE, NONE, 0};
    done = done && replay(&c, n_before, sector_before, kind_before, place_before, NULL);
    c.written_back = 0;
    done = done && replay(&c, n, sector, kind, place, hit);
    changed[0] = c.written_back;
    changed[1] = c.left_dirty;
    free(c.lines);
    free(c.slots);
    free(c.places);
    return done;
}
