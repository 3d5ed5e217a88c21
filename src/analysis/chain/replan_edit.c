#include <stdlib.h>

#include "analysis/chain/replan_internal.h"

#define NOTHING UINT32_MAX

enum fate {
    FATE_DROPPED, /* freed in forward, made again before the backward of its segment */
    FATE_HELD,    /* the input of a segment, which its checkpoint holds until it ran again */
};

/* An allocation that checkpoints treat otherwise than the recorded program did. */
struct changed {
    uint32_t item;    /* its alloc */
    uint32_t element; /* that made it */
    uint32_t segment;
    uint32_t slot;     /* FATE_DROPPED: in forward, as recorded */
    uint32_t new_slot; /* made again, or held */
    bool is_output;    /* of its element */
    uint8_t fate;
};

struct editor {
    const struct program *program;
    const struct forward_chain *chain;
    const struct chain_segment *segments;
    size_t segment_count;
    uint32_t *again; /* by segment: the item before which it runs again */
    size_t again_capacity;
    struct changed *changes; /* by item */
    size_t change_count, change_capacity;
    uint32_t *change_of; /* by recorded slot: who is in it, or NOTHING */
    size_t change_of_capacity;
    uint32_t *copy_of; /* by recorded slot, while a segment runs again: its copy, or NOTHING */
    size_t copy_of_capacity;
    struct program_step *steps;
    size_t step_count, step_capacity;
    size_t slots;
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
    return (uint32_t)editor->slots++;
}

static bool is_free(const struct program_step *step)
{
    return step->kind == STEP_FREE_REQUESTED || step->kind == STEP_FREE_COMPLETED;
}

/* Behind the steps of items before `item`; those of the start state have no item. */
static size_t step_from(const struct program *program, uint32_t item)
{
    size_t low = program->start_count, high = program->step_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (program->steps[middle].item < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first of chain->kept that is at or after an item. */
static size_t kept_from(const struct forward_chain *chain, uint32_t item)
{
    size_t low = 0, high = chain->kept_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chain->kept[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds what the elements of a segment keep, but for the output that leaves it. */
static bool add_dropped(struct editor *editor, size_t segment, struct error *err)
{
    const struct forward_chain *chain = editor->chain;
    const struct chain_segment *it = &editor->segments[segment];
    uint32_t leaving = chain->elements[it->end - 1].output_item;
    size_t element = it->first, end = kept_from(chain, replan_boundary(chain, it->end));
    for (size_t k = kept_from(chain, replan_boundary(chain, it->first)); k < end; k++) {
        uint32_t item = chain->kept[k];
        if (item == leaving)
            continue;
        while (item >= replan_boundary(chain, element + 1))
            element++;
        if (!vec_push(editor->changes, editor->change_count, editor->change_capacity,
                      editor->budget, err,
                      (struct changed){.item = item,
                                       .element = (uint32_t)element,
                                       .segment = (uint32_t)segment,
                                       .slot = NOTHING,
                                       .new_slot = take_slot(editor),
                                       .is_output = item == chain->elements[element].output_item,
                                       .fate = FATE_DROPPED}))
            return false;
    }
    return true;
}

/* The input of a segment, if the recorded program did not keep it for the backward. */
static bool add_held(struct editor *editor, size_t segment, struct error *err)
{
    const struct chain_segment *it = &editor->segments[segment];
    if (it->first == 0)
        return true;
    const struct forward_chain *chain = editor->chain;
    const struct chain_element *before = &chain->elements[it->first - 1];
    size_t kept = kept_from(chain, before->output_item);
    if (before->output_item == EVENT_NEVER ||
        (kept < chain->kept_count && chain->kept[kept] == before->output_item))
        return true;
    return vec_push(editor->changes, editor->change_count, editor->change_capacity, editor->budget,
                    err,
                    (struct changed){.item = before->output_item,
                                     .element = (uint32_t)it->first - 1,
                                     .segment = (uint32_t)segment,
                                     .slot = NOTHING,
                                     .new_slot = take_slot(editor),
                                     .fate = FATE_HELD});
}

static int by_item(const void *a, const void *b)
{
    const struct changed *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static bool prepare(struct editor *editor, struct error *err)
{
    const struct program *program = editor->program;
    if (!vec_reserve(editor->again, editor->again_capacity, editor->segment_count + 1,
                     editor->budget, err) ||
        !vec_reserve(editor->change_of, editor->change_of_capacity, program->slot_count + 1,
                     editor->budget, err) ||
        !vec_reserve(editor->copy_of, editor->copy_of_capacity, program->slot_count + 1,
                     editor->budget, err))
        return false;
    for (size_t i = 0; i < program->slot_count; i++)
        editor->change_of[i] = editor->copy_of[i] = NOTHING;
    editor->slots = program->slot_count;
    for (size_t s = 0; s < editor->segment_count; s++) {
        size_t end = editor->segments[s].end;
        editor->again[s] = end < editor->chain->count ? editor->chain->elements[end].backward_end
                                                      : editor->chain->backward;
        if (!add_held(editor, s, err) || !add_dropped(editor, s, err))
            return false;
    }
    if (editor->change_count > 0)
        qsort(editor->changes, editor->change_count, sizeof(*editor->changes), by_item);
    return true;
}

/* The first change that is at or after an item. */
static size_t change_from(const struct editor *editor, uint32_t item)
{
    size_t low = 0, high = editor->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (editor->changes[middle].item < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The change that begins with an item, or NOTHING. */
static uint32_t change_at(const struct editor *editor, uint32_t item)
{
    size_t at = change_from(editor, item);
    return at < editor->change_count && editor->changes[at].item == item ? (uint32_t)at : NOTHING;
}

/* A segment runs again before the first free of what it dropped. */
static void find_first_frees(struct editor *editor)
{
    const struct program *program = editor->program;
    for (size_t i = program->start_count; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (step->kind == STEP_MALLOC) {
            editor->change_of[step->slot] = change_at(editor, step->item);
        } else if (is_free(step) && editor->change_of[step->slot] != NOTHING) {
            const struct changed *change = &editor->changes[editor->change_of[step->slot]];
            uint32_t *again = &editor->again[change->segment];
            if (change->fate == FATE_DROPPED && step->item < *again)
                *again = step->item;
            if (step->kind == STEP_FREE_COMPLETED)
                editor->change_of[step->slot] = NOTHING;
        }
    }
    for (size_t i = 0; i < program->slot_count; i++)
        editor->change_of[i] = NOTHING;
}

/* When element `ended` is over: frees what it dropped, and the output before it. */
static bool end_element(struct editor *editor, size_t ended, struct program_step at,
                        struct error *err)
{
    size_t from = change_from(editor, replan_boundary(editor->chain, ended - (ended > 0)));
    size_t to = change_from(editor, replan_boundary(editor->chain, ended + 1));
    for (size_t k = from; k < to; k++) {
        const struct changed *change = &editor->changes[k];
        if (change->fate == FATE_DROPPED && change->slot != NOTHING &&
            change->element + change->is_output == ended &&
            !emit(editor, at, STEP_FREE_COMPLETED, change->slot, err))
            return false;
    }
    return true;
}

static bool run_again_step(struct editor *editor, const struct program_step *step, uint32_t leaving,
                           struct error *err)
{
    uint32_t *copy = &editor->copy_of[step->slot];
    if (step->kind == STEP_MALLOC) {
        uint32_t change = change_at(editor, step->item);
        bool is_dropped = change != NOTHING && editor->changes[change].fate == FATE_DROPPED;
        if (step->item == leaving) /* a checkpoint stops at the last tensor that is saved */
            return true;
        uint32_t slot = is_dropped ? editor->changes[change].new_slot : take_slot(editor);
        *copy = is_dropped ? NOTHING : slot;
        return emit(editor, *step, STEP_MALLOC, slot, err);
    }
    if (!is_free(step) || *copy == NOTHING)
        return true;
    uint32_t slot = *copy;
    if (step->kind == STEP_FREE_COMPLETED)
        *copy = NOTHING;
    return emit(editor, *step, step->kind, slot, err);
}

/* Repeats the forward of a segment; what it dropped stays, all else is freed. */
static bool run_again(struct editor *editor, size_t segment, struct program_step at,
                      struct error *err)
{
    const struct forward_chain *chain = editor->chain;
    const struct chain_segment *it = &editor->segments[segment];
    size_t from = step_from(editor->program, replan_boundary(chain, it->first));
    size_t to = step_from(editor->program, replan_boundary(chain, it->end));
    uint32_t leaving = chain->elements[it->end - 1].output_item;
    for (size_t i = from; i < to; i++) {
        struct program_step step = editor->program->steps[i];
        if (!run_again_step(editor, &step, leaving, err))
            return false;
    }
    for (size_t i = from; i < to; i++) {
        uint32_t *copy = &editor->copy_of[editor->program->steps[i].slot];
        if (*copy != NOTHING && !emit(editor, at, STEP_FREE_COMPLETED, *copy, err))
            return false;
        *copy = NOTHING;
    }
    uint32_t input = it->first > 0 ? chain->elements[it->first - 1].output_item : EVENT_NEVER;
    uint32_t held = input == EVENT_NEVER ? NOTHING : change_at(editor, input);
    return held == NOTHING || editor->changes[held].fate != FATE_HELD ||
           emit(editor, at, STEP_FREE_COMPLETED, editor->changes[held].new_slot, err);
}

/* A recorded step, in the slot that its allocation has now. */
static bool keep_step(struct editor *editor, const struct program_step *step, struct error *err)
{
    uint32_t *in = &editor->change_of[step->slot];
    if (step->kind == STEP_MALLOC) {
        *in = change_at(editor, step->item);
        struct changed *change = *in == NOTHING ? NULL : &editor->changes[*in];
        uint32_t slot = change && change->fate == FATE_HELD ? change->new_slot : step->slot;
        if (change && change->fate == FATE_DROPPED)
            change->slot = slot;
        return emit(editor, *step, STEP_MALLOC, slot, err);
    }
    if (!is_free(step) || *in == NOTHING)
        return emit(editor, *step, step->kind, step->slot, err);
    const struct changed *change = &editor->changes[*in];
    if (step->kind == STEP_FREE_COMPLETED)
        *in = NOTHING;
    return change->fate == FATE_HELD || emit(editor, *step, step->kind, change->new_slot, err);
}

static bool edit(struct editor *editor, struct error *err)
{
    const struct program *program = editor->program;
    const struct forward_chain *chain = editor->chain;
    size_t element = 0, left = editor->segment_count;
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        bool is_start = i < program->start_count;
        for (; !is_start && element < chain->count &&
               step->item >= replan_boundary(chain, element + 1);
             element++)
            if (!end_element(editor, element, *step, err))
                return false;
        for (; !is_start && left > 0 && step->item >= editor->again[left - 1]; left--)
            if (!run_again(editor, left - 1, *step, err))
                return false;
        if (!(is_start ? emit(editor, *step, step->kind, step->slot, err)
                       : keep_step(editor, step, err)))
            return false;
    }
    return true;
}

bool replan_edit(const struct program *program, const struct forward_chain *chain,
                 const struct chain_segment *segments, size_t count, struct program *edited,
                 struct error *err)
{
    struct editor editor = {.program = program,
                            .chain = chain,
                            .segments = segments,
                            .segment_count = count,
                            .budget = program->budget};
    bool ok = prepare(&editor, err);
    if (ok)
        find_first_frees(&editor);
    ok = ok && edit(&editor, err);
    struct budget *budget = program->budget;
    vec_free(editor.again, editor.again_capacity, sizeof(*editor.again), budget);
    vec_free(editor.changes, editor.change_capacity, sizeof(*editor.changes), budget);
    vec_free(editor.change_of, editor.change_of_capacity, sizeof(*editor.change_of), budget);
    vec_free(editor.copy_of, editor.copy_of_capacity, sizeof(*editor.copy_of), budget);
    *edited = *program;
    edited->steps = editor.steps;
    edited->step_count = editor.step_count;
    edited->step_capacity = editor.step_capacity;
    edited->slot_count = editor.slots;
    if (!ok)
        replan_edit_release(edited);
    return ok;
}

void replan_edit_release(struct program *edited)
{
    vec_free(edited->steps, edited->step_capacity, sizeof(*edited->steps), edited->budget);
}
