// Executes the instructions of a chunk, each for all selected warps before the next one, as NumPy's handlers do.

#include "chunk.h"

#include "integer.h"

#include "floats.h"

#include "conversions.h"

#include "halves.h"

#include "collectives.h"

#include "memory.h"

#include "atomics.h"

#include "control.h"

#define OPERATIONS(X)                                                                                                \
    X(add3) X(add_carrying) X(add_wide) X(multiply_add) X(multiply_wide) X(compare) X(compare_wide) X(minimum)       \
    X(absolute) X(shifted_add) X(shifted_add_of_words) X(logic) X(predicate_logic) X(shift) X(shift_word) X(permute) \
    X(select_word) X(move) X(move_wide) X(count_bits) X(reverse_bits) X(leading_one) X(extend_sign) X(bit_mask)      \
    X(pack_predicates) X(unpack_predicates) X(add_float) X(multiply_float) X(multiply_add_float) X(add_double)       \
    X(multiply_double) X(multiply_add_double) X(compare_float) X(compare_double) X(compare_to_word) X(select_float)  \
    X(minimum_float) X(minimum_double) X(check_division) X(special_function) X(special_function_of_upper_word)       \
    X(float_to_integer) X(integer_to_float) X(float_to_float) X(add_halves) X(multiply_halves)                       \
    X(multiply_add_halves) X(compare_halves) X(minimum_of_halves) X(pack_halves) X(shuffle) X(vote) X(to_uniform)    \
    X(read_of_thread) X(read_of_block) X(read_clock) X(load_global) X(store_global) X(load_window) X(store_window)   \
    X(load_constant) X(nothing) X(branch) X(branch_to_register) X(set_convergence) X(await_convergence) X(await_others) X(change_global)   \
    X(change_window)

#define POINTER(name) name,
#define NAME(name) #name "\n"

static Operation *const operations[] = {OPERATIONS(POINTER)};

const char *operation_names(void) { return OPERATIONS(NAME); }

long sizes(int which) { return which ? (long)sizeof(Chunk) : (long)sizeof(Step); }

// Masks of the selected warps, once for each group.
static void choose(Chunk *s) {
    for (i64 k = 0; k < s->count; k++) {
        s->warps[k] = s->selected ? s->selected[k] : k;
        s->masks[k] = s->lanes ? packed(s->lanes + LANES * k) : ALL;
    }
    s->chosen = 1;
}

// Execute from instruction `at` on; the instruction that the caller must go on with.
i64 run(Chunk *s, i64 at) {
    if (!s->chosen) choose(s);
    while (at >= 0 && at < s->length && !s->ready[at] && s->steps < s->budget) {
        const Step *t = &s->code[at];
        if (t->operation < 0 || (t->target >= 0 && back(s, at, t->target))) break;
        int outcome = operations[t->operation](s, t);
        if (outcome == STOP) break;
        s->steps++;
        s->polled |= t->polls;
        s->wrote |= t->writes;
        if (outcome == JUMP) {
            s->turns += s->next <= at;
            at = s->next;
        } else {
            at++;
        }
    }
    return at;
}
