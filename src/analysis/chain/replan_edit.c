#include "analysis/chain/replan_internal.h"
#include "base/bisect.h"

/* So many steps that run again take about a second and 500 MB. */
#define MOST_AGAIN 10000000

struct editor {
    const struct program *program;
    const struct forward_chain *chain;
    struct replan_changes changes;
    uint32_t *change_of; /* by recorded slot: the change in it, or REPLAN_NONE */
    size_t change_of_capacity;
    uint32_t *copy_of; /* by recorded slot, in the present run: its copy, or REPLAN_NONE */
    size_t copy_of_capacity;
    struct program_step *steps;
    size_t step_count, step_capacity;
    struct budget *budget;
};

static bool emit(struct editor *editor, struct program_step step, uint8_t kind, uint32_t slot,
                 struct error *err)
{
    step.kind = kind;
    step.slot = slot;
    return vec_push(editor->steps, editor->step_count, editor->step_capacity, editor->budget, err,
                    step);
}

static uint32_t take_slot(struct editor *editor)
{
    return (uint32_t)editor->changes.slots++;
}

/* Behind the steps of items before `item`; those of the start state have no item. */
static size_t step_from(const struct program *program, uint32_t item)
{
    size_t start = program->start_count, count = program->step_count - start;
    const struct program_step *steps = &program->steps[start];
    return start + (count > 0 ? bisect_less(&steps->item, sizeof(*steps), count, item) : 0);
}

/* The steps of the forward of a segment. */
struct step_range {
    size_t from, to;
};

static struct step_range forward_steps(const struct editor *editor,
                                       const struct replan_segment *segment)
{
    return (struct step_range){
        step_from(editor->program, replan_boundary(editor->chain, segment->first)),
        step_from(editor->program, replan_boundary(editor->chain, segment->end))};
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
    return true;
}

/* A run through elements: the forward pass, or a segment that runs again. What it drops is freed
 * when the operator after the one that made it is over; outputs, when the next element is; copies
 * of weights, when the forward pass is, with which autocast's region ends. */
struct run {
    size_t element, last; /* the present one, and that with which the run ends */
    size_t next;          /* the first change that may have to be freed */
    stack_id stack;       /* of the present operator: successive allocations with one stack */
    uint32_t operator;    /* its number */
};

static struct run run_begin(const struct editor *editor, size_t first, size_t last)
{
    uint32_t item = replan_boundary(editor->chain, first);
    return (struct run){.element = first,
                        .last = last,
                        .next = replan_change_from(&editor->changes, item),
                        .stack = STACK_NONE};
}

static bool drop(struct editor *editor, struct replan_change *change, struct program_step at,
                 struct error *err)
{
    uint32_t slot = change->slot;
    change->slot = REPLAN_NONE;
    return slot == REPLAN_NONE || emit(editor, at, STEP_FREE_COMPLETED, slot, err);
}

static bool holds(const struct editor *editor, const struct run *run,
                  const struct replan_change *change)
{
    return change->is_cast && run->last == editor->chain->count;
}

static bool drop_casts(struct editor *editor, struct program_step at, struct error *err)
{
    for (size_t k = 0; k < editor->changes.count; k++)
        if (editor->changes.changes[k].is_cast &&
            !drop(editor, &editor->changes.changes[k], at, err))
            return false;
    return true;
}

/* Frees what element run->element leaves behind, and the output of the element before it. */
static bool end_element(struct editor *editor, struct run *run, struct program_step at,
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
            !drop(editor, change, at, err))
            return false;
    }
    return run->last != editor->chain->count || run->element < editor->chain->count ||
           drop_casts(editor, at, err);
}

/* Before a step of the run. */
static bool advance(struct editor *editor, struct run *run, const struct program_step *step,
                    struct program_step at, struct error *err)
{
    struct replan_changes *changes = &editor->changes;
    while (run->element < editor->chain->count &&
           step->item >= replan_boundary(editor->chain, run->element + 1))
        if (!end_element(editor, run, at, err))
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
        if (!drop(editor, change, at, err))
            return false;
    }
    return true;
}

static bool malloc_again(struct editor *editor, const struct run *run,
                         const struct program_step *step, uint32_t segment, struct error *err)
{
    uint32_t at = replan_change_at(&editor->changes, step->item);
    struct replan_change *change = at == REPLAN_NONE ? NULL : &editor->changes.changes[at];
    if (change && change->fate == FATE_RESULT) {
        change->is_taken = change->until == segment;
        if (change->is_taken)
            editor->copy_of[step->slot] = change->new_slot;
        return true;
    }
    if (change && change->level == segment) {
        change->is_taken = change->fate == FATE_COPIED;
        return emit(editor, *step, STEP_MALLOC, change->new_slot, err);
    }
    uint32_t slot = take_slot(editor);
    if (change && change->fate == FATE_DROPPED) {
        change->slot = slot;
        change->operator= run->operator;
    } else {
        editor->copy_of[step->slot] = slot;
    }
    return emit(editor, *step, STEP_MALLOC, slot, err);
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
    return emit(editor, *step, step->kind, slot, err);
}

/* Frees the copies that a run left behind. */
static bool free_copies(struct editor *editor, struct step_range steps, struct program_step at,
                        struct error *err)
{
    for (size_t i = steps.from; i < steps.to; i++) {
        uint32_t *copy = &editor->copy_of[editor->program->steps[i].slot];
        if (*copy != REPLAN_NONE && !emit(editor, at, STEP_FREE_COMPLETED, *copy, err))
            return false;
        *copy = REPLAN_NONE;
    }
    return true;
}

static bool free_held(struct editor *editor, size_t from, size_t to, uint32_t segment,
                      struct program_step at, struct error *err)
{
    for (size_t k = from; k < to; k++) {
        const struct replan_change *change = &editor->changes.changes[k];
        if (change->until == segment && !change->is_taken &&
            !emit(editor, at, STEP_FREE_COMPLETED, change->new_slot, err))
            return false;
    }
    return true;
}

/* The inputs that a segment was the last to need: the element before it made them. */
static bool free_inputs(struct editor *editor, uint32_t segment, struct program_step at,
                        struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    size_t first = changes->segments[segment].first;
    if (first == 0)
        return true;
    size_t from = replan_change_from(changes, replan_boundary(editor->chain, first - 1));
    size_t to = replan_change_from(changes, replan_boundary(editor->chain, first));
    return free_held(editor, from, to, segment, at, err);
}

/* The results that a segment kept in vain: its checkpoint stops before them, and PyTorch holds them
 * until the backward of the segment is over. */
static bool free_results(struct editor *editor, uint32_t segment, struct program_step at,
                         struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    const struct replan_segment *it = &changes->segments[segment];
    size_t from = replan_change_from(changes, replan_boundary(editor->chain, it->first));
    size_t to = replan_change_from(changes, replan_boundary(editor->chain, it->end));
    return free_held(editor, from, to, segment, at, err);
}

/* The steps of a segment that run again: its checkpoint stops at the last tensor that it saves. */
static struct step_range repeated_steps(const struct editor *editor, uint32_t segment)
{
    const struct replan_changes *changes = &editor->changes;
    struct step_range steps = forward_steps(editor, &changes->segments[segment]);
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

/* Frees the output of a segment that makes it again. */
static bool drop_output(struct editor *editor, uint32_t segment, struct program_step at,
                        struct error *err)
{
    const struct replan_segment *it = &editor->changes.segments[segment];
    uint32_t output = editor->chain->elements[it->end - 1].output_item;
    uint32_t found =
        output == EVENT_NEVER ? REPLAN_NONE : replan_change_at(&editor->changes, output);
    struct replan_change *change = found == REPLAN_NONE ? NULL : &editor->changes.changes[found];
    return !change || change->fate != FATE_AGAIN || change->level != segment ||
           drop(editor, change, at, err);
}

/* Repeats the forward of a segment. What it dropped stays, and what the segments within it hold;
 * all else is freed. */
static bool run_again(struct editor *editor, uint32_t segment, struct program_step at,
                      struct error *err)
{
    const struct replan_segment *it = &editor->changes.segments[segment];
    struct step_range steps = repeated_steps(editor, segment);
    struct run run = run_begin(editor, it->first, it->end - 1);
    if (!drop_output(editor, segment, at, err))
        return false;
    for (size_t i = steps.from; i < steps.to; i++) {
        struct program_step step = editor->program->steps[i];
        if (!advance(editor, &run, &step, at, err) ||
            !step_again(editor, &run, &step, segment, err))
            return false;
    }
    while (run.element < it->end)
        if (!end_element(editor, &run, at, err))
            return false;
    return free_copies(editor, steps, at, err) && free_inputs(editor, segment, at, err);
}

/* A recorded step, in the slot that its allocation has now. */
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
            *in = REPLAN_NONE; /* held only in a run of its level; or kept anyway */
        } else if (change) {
            return emit(editor, *step, STEP_MALLOC, change->new_slot, err);
        }
        return emit(editor, *step, STEP_MALLOC, step->slot, err);
    }
    if (!replan_is_free(step) || *in == REPLAN_NONE)
        return emit(editor, *step, step->kind, step->slot, err);
    const struct replan_change *change = &editor->changes.changes[*in];
    if (step->kind == STEP_FREE_COMPLETED)
        *in = REPLAN_NONE;
    return replan_is_held(change) || emit(editor, *step, step->kind, change->new_slot, err);
}

/* Frees the copies of what the program holds, but those of the first `left` changes: the backward
 * of their elements is over. */
static bool free_copied(struct editor *editor, size_t *left, struct program_step at,
                        struct error *err)
{
    for (; *left > 0; --*left) {
        struct replan_change *change = &editor->changes.changes[*left - 1];
        if (change->fate != FATE_COPIED)
            continue;
        if (at.item < editor->chain->elements[change->element].backward_end)
            break;
        if (change->is_taken && !emit(editor, at, STEP_FREE_COMPLETED, change->new_slot, err))
            return false;
    }
    return true;
}

/* The segments that run again before a step, and those whose backward is over then. `next` and
 * `over`: places in changes.order. */
static bool run_segments(struct editor *editor, const struct program_step *step, size_t *next,
                         size_t *over, struct error *err)
{
    const struct replan_changes *changes = &editor->changes;
    for (; *next < changes->segment_count; ++*next) {
        if (step->item < changes->segments[changes->order[*next]].again)
            break;
        if (!run_again(editor, changes->order[*next], *step, err))
            return false;
    }
    for (; *over < *next; ++*over) {
        const struct replan_segment *it = &changes->segments[changes->order[*over]];
        if (step->item < editor->chain->elements[it->first].backward_end)
            break;
        if (!free_results(editor, changes->order[*over], *step, err))
            return false;
    }
    return true;
}

static bool edit(struct editor *editor, struct error *err)
{
    const struct program *program = editor->program;
    struct run run = run_begin(editor, 0, editor->chain->count);
    size_t next = 0, over = 0, left = editor->changes.count;
    for (size_t i = 0; i < program->start_count; i++)
        if (!emit(editor, program->steps[i], program->steps[i].kind, program->steps[i].slot, err))
            return false;
    for (size_t i = program->start_count; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (!advance(editor, &run, step, *step, err) || !free_copied(editor, &left, *step, err) ||
            !run_segments(editor, step, &next, &over, err) || !keep_step(editor, &run, step, err))
            return false;
    }
    return true;
}

/* False: nested too deeply. */
static bool is_short(const struct editor *editor)
{
    size_t again = 0;
    for (size_t k = 0; k < editor->changes.segment_count; k++) {
        struct step_range steps = forward_steps(editor, &editor->changes.segments[k]);
        again += steps.to - steps.from;
        if (again > MOST_AGAIN)
            return false;
    }
    return true;
}

bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, struct program *edited,
                 bool *is_too_long, struct error *err)
{
    struct editor editor = {.program = program, .chain = chain, .budget = program->budget};
    bool ok = replan_changes_find(&editor.changes, program, chain, segments, count, err);
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
    replan_changes_release(&editor.changes);
    if (!ok)
        replan_edit_release(edited);
    return ok;
}

void replan_edit_release(struct program *edited)
{
    vec_free(edited->steps, edited->step_capacity, sizeof(*edited->steps), edited->budget);
}
