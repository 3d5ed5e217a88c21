#include <stdlib.h>

#include "analysis/chain/replan_editor.h"

/* Repeating this many steps takes about a second and 500 MB. */
#define MOST_AGAIN 10000000

static int by_until(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return (x->change > y->change) - (x->change < y->change);
}

/* Lists the changes to tensors that the program may hold, ordered by the item up to which it holds
 * them. */
static bool find_late(struct editor *editor, struct error *err)
{
    bool ok = true;
    for (size_t k = 0; ok && k < editor->changes.count; k++) {
        const struct replan_change *change = &editor->changes.changes[k];
        if (change->held_until > 0)
            ok = vec_push(editor->late, editor->late_count, editor->late_capacity, editor->budget,
                          err, (struct late){change->held_until, (uint32_t)k});
    }
    if (editor->late_count > 0)
        qsort(editor->late, editor->late_count, sizeof(*editor->late), by_until);
    return ok;
}

static bool prepare(struct editor *editor, struct error *err)
{
    const struct program *program = editor->program;
    if (!vec_reserve(editor->change_of, editor->change_of_capacity, program->slot_count + 1,
                     editor->budget, err) ||
        !vec_reserve(editor->copy_of, editor->copy_of_capacity, program->slot_count + 1,
                     editor->budget, err))
        return false;
    for (size_t i = 0; i < program->slot_count; i++)
        editor->change_of[i] = editor->copy_of[i] = REPLAN_NONE;
    return find_late(editor, err);
}

/* Emits a recorded step, with the slot that its allocation has now. */
static bool keep_step(struct editor *editor, const struct run *run, const struct program_step *step,
                      struct error *err)
{
    uint32_t *in = &editor->change_of[step->slot];
    if (step->kind == STEP_MALLOC) {
        *in = replan_change_at(&editor->changes, step->item);
        struct replan_change *change = *in == REPLAN_NONE ? NULL : &editor->changes.changes[*in];
        if (change && (change->fate == FATE_DROPPED || change->fate == FATE_AGAIN)) {
            change->slot = step->slot;
            change->operator= run->operator;
        } else if (change && (change->level != REPLAN_NONE || !replan_is_held(change))) {
            *in = REPLAN_NONE; /* a later run holds it, or the recorded program kept it anyway */
        } else if (change) {
            return replan_emit(editor, *step, STEP_MALLOC, change->new_slot, err);
        }
        return replan_emit(editor, *step, STEP_MALLOC, step->slot, err);
    }
    if (!replan_is_free(step) || *in == REPLAN_NONE)
        return replan_emit(editor, *step, step->kind, step->slot, err);
    const struct replan_change *change = &editor->changes.changes[*in];
    if (step->kind == STEP_FREE_COMPLETED)
        *in = REPLAN_NONE;
    return replan_is_held(change) || replan_emit(editor, *step, step->kind, change->new_slot, err);
}

/* Frees the second allocations of what the program holds, where the backward of their elements has
 * ended. *left is the number of changes that were not looked at; they are taken from the last on.
 */
static bool free_copied(struct editor *editor, size_t *left, struct program_step at,
                        struct error *err)
{
    for (; *left > 0; --*left) {
        struct replan_change *change = &editor->changes.changes[*left - 1];
        if (change->fate != FATE_COPIED)
            continue;
        if (at.item < editor->chain->elements[change->element].backward_end)
            break;
        if (change->is_taken &&
            !replan_emit(editor, at, STEP_FREE_COMPLETED, change->new_slot, err))
            return false;
    }
    return true;
}

/* Frees the tensors that the program holds up to a step. *next is an index in editor->late. */
static bool free_late(struct editor *editor, size_t *next, struct program_step at,
                      struct error *err)
{
    for (; *next < editor->late_count && editor->late[*next].until <= at.item; ++*next)
        if (!replan_drop(editor, &editor->changes.changes[editor->late[*next].change], at, err))
            return false;
    return true;
}

/* Runs the segments again that must do so before a step, and frees the kept results of segments
 * whose backward has ended by then. *next and *over are indices in changes.order. */
static bool run_segments(struct editor *editor, const struct program_step *step, size_t *next,
                         size_t *over, struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    for (; *next < changes->segment_count; ++*next) {
        if (step->item < changes->segments[changes->order[*next]].again)
            break;
        if (!replan_run_again(editor, changes->order[*next], *step, err))
            return false;
    }
    for (; *over < *next; ++*over) {
        const struct replan_segment *it = &changes->segments[changes->order[*over]];
        if (step->item < editor->chain->elements[it->first].backward_end)
            break;
        if (!replan_free_results(editor, changes->order[*over], *step, err))
            return false;
    }
    return true;
}

static bool edit(struct editor *editor, struct error *err)
{
    const struct program *program = editor->program;
    struct run run = replan_run_begin(editor, 0, editor->chain->count);
    size_t next = 0, over = 0, left = editor->changes.count, late = 0;
    for (size_t i = 0; i < program->start_count; i++)
        if (!replan_emit(editor, program->steps[i], program->steps[i].kind, program->steps[i].slot,
                         err))
            return false;
    for (size_t i = program->start_count; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (!replan_run_advance(editor, &run, step, *step, err) ||
            !free_late(editor, &late, *step, err) || !free_copied(editor, &left, *step, err) ||
            !run_segments(editor, step, &next, &over, err) || !keep_step(editor, &run, step, err))
            return false;
    }
    /* A program may end with the pass. */
    struct program_step end = {.item = editor->chain->end};
    return program->step_count == 0 || program->steps[program->step_count - 1].item >= end.item ||
           (free_late(editor, &late, end, err) && free_copied(editor, &left, end, err) &&
            run_segments(editor, &end, &next, &over, err));
}

/* False if segments are nested so deeply that too many steps would run again. */
static bool is_short(const struct editor *editor)
{
    size_t again = 0;
    for (size_t k = 0; k < editor->changes.segment_count; k++) {
        const struct replan_segment *segment = &editor->changes.segments[k];
        struct step_range steps =
            replan_steps(editor, replan_boundary(editor->chain, segment->first),
                         replan_boundary(editor->chain, segment->end));
        again += steps.to - steps.from;
        if (again > MOST_AGAIN)
            return false;
    }
    return true;
}

bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, bool at_worst,
                 struct program *edited, bool *is_too_long, struct error *err)
{
    struct editor editor = {.program = program, .chain = chain, .budget = program->budget};
    bool ok = replan_changes_find(&editor.changes, program, chain, segments, count, at_worst, err);
    *is_too_long = ok && !is_short(&editor);
    if (ok && !*is_too_long)
        ok = prepare(&editor, err) && edit(&editor, err);
    *edited = *program;
    edited->steps = editor.steps;
    edited->step_count = editor.step_count;
    edited->step_capacity = editor.step_capacity;
    edited->slot_count = editor.changes.slots;
    struct budget *budget = program->budget;
    vec_free(editor.change_of, editor.change_of_capacity, sizeof(*editor.change_of), budget);
    vec_free(editor.copy_of, editor.copy_of_capacity, sizeof(*editor.copy_of), budget);
    vec_free(editor.late, editor.late_capacity, sizeof(*editor.late), budget);
    replan_changes_release(&editor.changes);
    if (!ok)
        replan_edit_release(edited);
    return ok;
}

void replan_edit_release(struct program *edited)
{
    vec_free(edited->steps, edited->step_capacity, sizeof(*edited->steps), edited->budget);
}
