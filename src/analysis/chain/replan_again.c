#include "analysis/chain/replan_editor.h"

static uint32_t take_slot(struct editor *editor)
{
    return (uint32_t)editor->changes.slots++;
}

static bool malloc_again(struct editor *editor, const struct run *run,
                         const struct program_step *step, uint32_t segment, struct error *err)
{
    uint32_t at = replan_change_at(&editor->changes, step->item);
    struct replan_change *change = at == REPLAN_NONE ? NULL : &editor->changes.changes[at];
    if (change && change->fate == FATE_HELD && change->until == segment)
        return true; /* an input of the segment, which is still there */
    if (change && change->fate == FATE_RESULT) {
        change->is_taken = change->until == segment;
        if (change->is_taken)
            editor->copy_of[step->slot] = change->new_slot;
        return true;
    }
    if (change && change->level == segment) {
        change->is_taken = change->fate == FATE_COPIED;
        return replan_emit(editor, *step, STEP_MALLOC, change->new_slot, err);
    }
    uint32_t slot = take_slot(editor);
    if (change && change->fate == FATE_DROPPED) {
        change->slot = slot;
        change->operator= run->operator;
    } else {
        editor->copy_of[step->slot] = slot;
    }
    return replan_emit(editor, *step, STEP_MALLOC, slot, err);
}

static bool step_again(struct editor *editor, const struct run *run,
                       const struct program_step *step, uint32_t segment, struct error *err)
{
    uint32_t *copy = &editor->copy_of[step->slot];
    if (step->kind == STEP_MALLOC) {
        *copy = REPLAN_NONE;
        return malloc_again(editor, run, step, segment, err);
    }
    if (!replan_is_free(step) || *copy == REPLAN_NONE)
        return true;
    uint32_t slot = *copy;
    if (step->kind == STEP_FREE_COMPLETED)
        *copy = REPLAN_NONE;
    return replan_emit(editor, *step, step->kind, slot, err);
}

/* Frees the copies that the run left. */
static bool free_copies(struct editor *editor, struct step_range steps, struct program_step at,
                        struct error *err)
{
    for (size_t i = steps.from; i < steps.to; i++) {
        uint32_t *copy = &editor->copy_of[editor->program->steps[i].slot];
        if (*copy != REPLAN_NONE && !replan_emit(editor, at, STEP_FREE_COMPLETED, *copy, err))
            return false;
        *copy = REPLAN_NONE;
    }
    return true;
}

/* Frees the inputs of which a segment was the last user. The element before it made them, or other
 * code in its first element. */
static bool free_inputs(struct editor *editor, uint32_t segment, struct program_step at,
                        struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    size_t first = changes->segments[segment].first;
    size_t k = replan_change_from(changes, replan_boundary(editor->chain, first - (first > 0)));
    size_t to = replan_change_from(changes, replan_boundary(editor->chain, first + 1));
    for (; k < to; k++) {
        const struct replan_change *change = &changes->changes[k];
        if (change->until == segment && change->fate == FATE_HELD &&
            !replan_emit(editor, at, STEP_FREE_COMPLETED, change->new_slot, err))
            return false;
    }
    return true;
}

bool replan_free_results(struct editor *editor, uint32_t segment, struct program_step at,
                         struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    const struct replan_segment *it = &changes->segments[segment];
    size_t k = replan_change_from(changes, replan_boundary(editor->chain, it->first));
    size_t to = replan_change_from(changes, replan_boundary(editor->chain, it->end));
    for (; k < to; k++) {
        const struct replan_change *change = &changes->changes[k];
        if (change->until == segment && change->fate == FATE_RESULT && !change->is_taken &&
            !replan_emit(editor, at, STEP_FREE_COMPLETED, change->new_slot, err))
            return false;
    }
    return true;
}

/* The steps of a segment that run again: those of its module calls, without other code before and
 * after them. PyTorch stops the recomputation at the last tensor that the backward pass needs. */
static struct step_range repeated_steps(const struct editor *editor, uint32_t segment)
{
    const struct replan_changes *changes = &editor->changes;
    const struct replan_segment *it = &changes->segments[segment];
    struct step_range steps = replan_steps(editor, editor->chain->elements[it->first].calls_first,
                                           editor->chain->elements[it->end - 1].calls_end);
    for (; steps.to > steps.from; steps.to--) {
        const struct program_step *step = &editor->program->steps[steps.to - 1];
        if (step->kind != STEP_MALLOC)
            continue;
        uint32_t at = replan_change_at(changes, step->item);
        if (at != REPLAN_NONE && changes->changes[at].level == segment)
            break;
    }
    return steps;
}

/* Frees the output of a segment with FATE_AGAIN, because the segment makes it again. */
static bool drop_output(struct editor *editor, uint32_t segment, struct program_step at,
                        struct error *err)
{
    const struct replan_segment *it = &editor->changes.segments[segment];
    uint32_t output = editor->chain->elements[it->end - 1].output_item;
    uint32_t found =
        output == EVENT_NEVER ? REPLAN_NONE : replan_change_at(&editor->changes, output);
    struct replan_change *change = found == REPLAN_NONE ? NULL : &editor->changes.changes[found];
    return !change || change->fate != FATE_AGAIN || change->level != segment ||
           replan_drop(editor, change, at, err);
}

bool replan_run_again(struct editor *editor, uint32_t segment, struct program_step at,
                      struct error *err)
{
    const struct replan_segment *it = &editor->changes.segments[segment];
    struct step_range steps = repeated_steps(editor, segment);
    struct run run = replan_run_begin(editor, it->first, it->end - 1);
    if (!drop_output(editor, segment, at, err))
        return false;
    for (size_t i = steps.from; i < steps.to; i++) {
        struct program_step step = editor->program->steps[i];
        if (!replan_run_advance(editor, &run, &step, at, err) ||
            !step_again(editor, &run, &step, segment, err))
            return false;
    }
    while (run.element < it->end)
        if (!replan_run_end_element(editor, &run, at, err))
            return false;
    return free_copies(editor, steps, at, err) && free_inputs(editor, segment, at, err);
}
