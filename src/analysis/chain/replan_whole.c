#include "analysis/chain/replan_whole.h"

#include "analysis/chain/replan_internal.h"
#include "base/bisect.h"

/* Repeating this many steps, in all passes together, takes some seconds. */
#define MOST_MORE 20000000

struct whole {
    const struct program *program;
    const struct forward_chain *chain;
    const struct chain_segment *segments;
    size_t count;
    struct program *edited;
    size_t done;   /* steps of the program that `edited` has */
    uint8_t *live; /* by slot */
    size_t live_capacity;
    bool is_too_long;
};

/* The index of the first step whose item is not less than `item`. */
static size_t step_from(const struct program *program, uint32_t item)
{
    size_t start = program->start_count, count = program->step_count - start;
    const struct program_step *steps = &program->steps[start];
    return start + (count > 0 ? bisect_less(&steps->item, sizeof(*steps), count, item) : 0);
}

static bool append(struct whole *whole, const struct program_step *steps, size_t count,
                   struct error *err)
{
    struct program *edited = whole->edited;
    for (size_t i = 0; i < count; i++)
        if (!vec_push(edited->steps, edited->step_count, edited->step_capacity, edited->budget, err,
                      steps[i]))
            return false;
    return true;
}

/* Appends steps as recorded, up to the one with index `end`. */
static bool append_recorded(struct whole *whole, size_t end, struct error *err)
{
    size_t from = whole->done;
    whole->done = end;
    return append(whole, &whole->program->steps[from], end - from, err);
}

/* True if both chains have elements of the same names, so that a plan for one is a plan for the
 * other. */
static bool has_same_elements(const struct forward_chain *a, const struct forward_chain *b)
{
    if (a->count != b->count || a->part_count != b->part_count)
        return false;
    for (size_t i = 0; i < a->part_count; i++)
        if (a->parts[i].name != b->parts[i].name)
            return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->elements[i].end_part != b->elements[i].end_part)
            return false;
    return true;
}

/* Notes in the bits `in` of whole->live which slots are allocated after the steps of a part. */
static void run_part(struct whole *whole, const struct program *part, uint8_t in)
{
    for (size_t i = 0; i < part->step_count; i++) {
        const struct program_step *step = &part->steps[i];
        if (step->kind == STEP_MALLOC)
            whole->live[step->slot] |= in;
        else if (step->kind == STEP_FREE_COMPLETED)
            whole->live[step->slot] &= (uint8_t)~in;
    }
}

#define RECORDED 1
#define CHANGED  2

/* Sets *same if the changed steps of a part leave the same recorded slots allocated as the recorded
 * steps, so that the program can go on with these. Frees what they leave in other slots. */
static bool leaves_same(struct whole *whole, const struct program *part, struct program *changed,
                        bool *same, struct error *err)
{
    if (!vec_reserve(whole->live, whole->live_capacity, changed->slot_count + 1,
                     whole->program->budget, err))
        return false;
    for (size_t i = 0; i < changed->step_count; i++)
        whole->live[changed->steps[i].slot] = 0;
    for (size_t i = part->step_count; i-- > 0;) {
        const struct program_step *step = &part->steps[i];
        whole->live[step->slot] = step->kind == STEP_MALLOC ? 0 : RECORDED | CHANGED;
    }
    run_part(whole, part, RECORDED);
    run_part(whole, changed, CHANGED);
    *same = true;
    for (size_t i = 0; i < part->step_count; i++) {
        uint8_t live = whole->live[part->steps[i].slot];
        *same &= live == 0 || live == (RECORDED | CHANGED);
    }
    for (size_t i = 0, count = changed->step_count; i < count; i++) {
        struct program_step step = changed->steps[i];
        bool is_left = step.slot >= part->slot_count && whole->live[step.slot] != 0;
        whole->live[step.slot] = is_left ? 0 : whole->live[step.slot];
        step.kind = STEP_FREE_COMPLETED;
        if (is_left && !vec_push(changed->steps, changed->step_count, changed->step_capacity,
                                 changed->budget, err, step))
            return false;
    }
    return true;
}

static bool visit(void *context, const struct forward_chain *chain, struct error *err)
{
    struct whole *whole = context;
    const struct program *program = whole->program;
    size_t from = step_from(program, chain->first), to = step_from(program, chain->end);
    if (whole->is_too_long || from < whole->done || !has_same_elements(chain, whole->chain))
        return true;
    struct program part = *program, changed;
    part.steps += from;
    part.step_count = to - from;
    part.start_count = 0;
    if (part.step_count == 0)
        return true;
    if (!append_recorded(whole, from, err) ||
        !replan_edit(&part, chain, whole->segments, whole->count, false, &changed,
                     &whole->is_too_long, err))
        return false;
    bool same = false;
    bool ok = whole->is_too_long || leaves_same(whole, &part, &changed, &same, err);
    if (ok && same) {
        whole->done = to;
        ok = append(whole, changed.steps, changed.step_count, err);
        if (changed.slot_count > whole->edited->slot_count)
            whole->edited->slot_count = changed.slot_count;
    }
    replan_edit_release(&changed);
    whole->is_too_long |= whole->edited->step_count > program->step_count + MOST_MORE;
    return ok;
}

bool replan_edit_whole(const struct program *program, struct site_table *sites,
                       const struct forward_chain *chain, const struct chain_segment *segments,
                       size_t count, struct program *edited, bool *is_too_long, struct error *err)
{
    struct whole whole = {
        .program = program, .chain = chain, .segments = segments, .count = count, .edited = edited};
    *edited = *program;
    edited->steps = NULL;
    edited->step_count = edited->step_capacity = 0;
    bool ok = forward_chain_visit(chain, program->timeline, sites, visit, &whole, err) &&
              append_recorded(&whole, program->step_count, err);
    *is_too_long = whole.is_too_long;
    vec_free(whole.live, whole.live_capacity, 1, program->budget);
    if (!ok)
        replan_edit_release(edited);
    return ok;
}
