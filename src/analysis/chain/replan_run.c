#include "analysis/chain/replan_editor.h"
#include "base/bisect.h"

bool replan_emit(struct editor *editor, struct program_step step, uint8_t kind, uint32_t slot,
                 struct error *err)
{
    step.kind = kind;
    step.slot = slot;
    return vec_push(editor->steps, editor->step_count, editor->step_capacity, editor->budget, err,
                    step);
}

/* The index of the first step whose item is not less than `item`. The steps of the start state,
 * which come first, have no item. */
static size_t step_from(const struct program *program, uint32_t item)
{
    size_t start = program->start_count, count = program->step_count - start;
    const struct program_step *steps = &program->steps[start];
    return start + (count > 0 ? bisect_less(&steps->item, sizeof(*steps), count, item) : 0);
}

struct step_range replan_steps(const struct editor *editor, uint32_t from, uint32_t to)
{
    return (struct step_range){step_from(editor->program, from), step_from(editor->program, to)};
}

struct run replan_run_begin(const struct editor *editor, size_t first, size_t last)
{
    uint32_t item = replan_boundary(editor->chain, first);
    return (struct run){.element = first,
                        .last = last,
                        .next = replan_change_from(&editor->changes, item),
                        .stack = STACK_NONE};
}

bool replan_drop(struct editor *editor, struct replan_change *change, struct program_step at,
                 struct error *err)
{
    uint32_t slot = change->slot;
    change->slot = REPLAN_NONE;
    return slot == REPLAN_NONE || replan_emit(editor, at, STEP_FREE_COMPLETED, slot, err);
}

/* True if a change's allocation must not be freed during a run, because the run is the forward pass
 * and autocast or the program holds the allocation. */
static bool holds(const struct editor *editor, const struct run *run,
                  const struct replan_change *change)
{
    return (change->is_cast || change->held_until > 0) && run->last == editor->chain->count;
}

static bool drop_casts(struct editor *editor, struct program_step at, struct error *err)
{
    for (size_t k = 0; k < editor->changes.count; k++)
        if (editor->changes.changes[k].is_cast &&
            !replan_drop(editor, &editor->changes.changes[k], at, err))
            return false;
    return true;
}

bool replan_run_end_element(struct editor *editor, struct run *run, struct program_step at,
                            struct error *err)
{
    size_t ended = run->element++;
    struct replan_changes *changes = &editor->changes;
    size_t from = replan_change_from(changes, replan_boundary(editor->chain, ended - (ended > 0)));
    size_t to = replan_change_from(changes, replan_boundary(editor->chain, ended + 1));
    for (size_t k = from; k < to; k++) {
        struct replan_change *change = &changes->changes[k];
        if (change->fate != FATE_AGAIN && !holds(editor, run, change) &&
            (change->element + change->is_output == ended || ended == run->last) &&
            !replan_drop(editor, change, at, err))
            return false;
    }
    return run->last != editor->chain->count || run->element < editor->chain->count ||
           drop_casts(editor, at, err);
}

bool replan_run_advance(struct editor *editor, struct run *run, const struct program_step *step,
                        struct program_step at, struct error *err)
{
    struct replan_changes *changes = &editor->changes;
    while (run->element < editor->chain->count &&
           step->item >= replan_boundary(editor->chain, run->element + 1))
        if (!replan_run_end_element(editor, run, at, err))
            return false;
    if (step->kind != STEP_MALLOC)
        return true;
    stack_id stack = editor->program->timeline->trace->stack[step->item];
    if (stack == run->stack)
        return true;
    run->stack = stack;
    run->operator++;
    for (; run->next < changes->count; run->next++) {
        struct replan_change *change = &changes->changes[run->next];
        if (change->item >= step->item)
            break;
        if (change->slot == REPLAN_NONE || change->is_output || holds(editor, run, change))
            continue;
        if (change->operator+ 2> run->operator)
            break;
        if (!replan_drop(editor, change, at, err))
            return false;
    }
    return true;
}
