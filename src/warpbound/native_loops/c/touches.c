/* How many sectors each block touches, as `footprint.py` counts them. */

#include <stdint.h>
#include <stdlib.h>

enum { NONE = -1 };

/* Touches of one sector, for which `now` is the number: the place of the first block's touch, of all blocks and of
   each patch of blocks; which blocks and patches have been seen. */
typedef struct {
    int64_t *seen_block, *seen_patch, *first, *patches;
} Group;

/* Counts by block and array, (blocks, width) each: sectors that the block touches before all others, that it touches,
   and that it touches before all others of its patch. Of equal touches the first one's array counts.

   sector : ascending, (m,); owner : the block of each; patch : of each block. 0 where sectors do not ascend, or memory
   is lacking. */
int64_t touches(
    int64_t m, const int64_t *sector, const int64_t *owner, const int64_t *array, int64_t blocks,
    const int64_t *patch, int64_t width, int64_t *before_all, int64_t *own, int64_t *in_patch
)
{
    int64_t *room = malloc((4 * blocks + 1) * sizeof *room);
    if (!room)
        return 0;
    Group g = {room, room + blocks, room + 2 * blocks, room + 3 * blocks};
    for (int64_t b = 0; b < 2 * blocks; b++)
        room[b] = NONE;
    int64_t begin = 0;
    for (int64_t end; begin < m; begin = end) {
        int64_t first = begin, count = 0;
        for (end = begin; end < m && sector[end] == sector[begin]; end++) {
            int64_t block = owner[end], its = patch[block];
            if (g.seen_block[block] != begin) {
                g.seen_block[block] = begin;
                own[block * width + array[end]]++;
            }
            if (block < owner[first])
                first = end;
            if (g.seen_patch[its] != begin) {
                g.seen_patch[its] = begin;
                g.first[its] = end;
                g.patches[count++] = its;
            } else if (block < owner[g.first[its]])
                g.first[its] = end;
        }
        if (end < m && sector[end] < sector[begin])
            break;
        before_all[owner[first] * width + array[first]]++;
        for (int64_t k = 0; k < count; k++) {
            int64_t at = g.first[g.patches[k]];
            in_patch[owner[at] * width + array[at]]++;
        }
    }
    free(room);
    return begin >= m;
}
