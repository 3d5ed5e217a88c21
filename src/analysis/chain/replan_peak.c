/* The peak of allocated memory of a program. */
#include "analysis/chain/elsewhere.h"
#include "analysis/chain/replan_internal.h"

/* True for an item at which a plan changes nothing. It belongs neither to the pass of the chain nor
 * to another pass of the same model, which is taken to need no more with the plan than that pass.
 */
static bool is_elsewhere(const struct forward_chain *chain, uint32_t item)
{
    bool elsewhere = item < chain->first || item >= chain_reach_end(chain);
    for (size_t i = 0; i < chain->other_count && elsewhere; i++) {
        const struct chain_pass *other = &chain->others[i];
        elsewhere = !other->alike || item < other->first || item >= other->end;
    }
    return elsewhere;
}

bool replan_find_peak(const struct program *program, const struct forward_chain *around,
                      uint64_t *most, uint32_t *item, struct error *err)
{
    uint64_t *sizes = NULL, now = 0;
    size_t capacity = 0;
    if (!vec_reserve(sizes, capacity, program->slot_count + 1, program->budget, err))
        return false;
    for (size_t i = 0; i <= program->slot_count; i++)
        sizes[i] = 0;
    *most = 0;
    *item = EVENT_NEVER;
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (step->kind == STEP_MALLOC)
            now += sizes[step->slot] = allocator_round_up(step->size, ALLOCATOR_MIN_BLOCK);
        else if (replan_is_free(step)) {
            now -= sizes[step->slot];
            sizes[step->slot] = 0;
        }
        if (now > *most &&
            (!around || (i >= program->start_count && is_elsewhere(around, step->item)))) {
            *most = now;
            *item = step->item;
        }
    }
    vec_free(sizes, capacity, sizeof(*sizes), program->budget);
    return true;
}
