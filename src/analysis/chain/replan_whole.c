#include "analysis/chain/replan_whole.h"

#include "analysis/chain/elsewhere.h"
#include "analysis/chain/replan_internal.h"
#include "base/bisect.h"

/* Repeating this many steps, in all passes together, takes some seconds. */
#define MOST_MORE 20000000

/* Each pass takes time for its steps and for all slots. This many take some seconds. */
#define MOST_WORK 1000000000

struct edit {
    const struct program *program; /* as recorded */
    const struct forward_chain *chain;
    const struct chain_segment *segments;
    size_t count;
    struct replan_mapped mapped; /* those that the present pass has */
    struct replan_whole *whole;
    size_t work;   /* steps and slots, so far */
    size_t done;   /* steps of the program that are edited, or taken over */
    uint8_t *live; /* by slot */
    size_t live_capacity;
};

/* The index of the first step whose item is not less than `item`. */
static size_t step_from(const struct program *program, uint32_t item)
{
    size_t start = program->start_count, count = program->step_count - start;
    const struct program_step *steps = &program->steps[start];
    return start + (count > 0 ? bisect_less(&steps->item, sizeof(*steps), count, item) : 0);
}

static bool append(struct edit *edit, const struct program_step *steps, size_t count,
                   struct error *err)
{
    struct program *edited = &edit->whole->program;
    for (size_t i = 0; i < count; i++)
        if (!vec_push(edited->steps, edited->step_count, edited->step_capacity, edited->budget, err,
                      steps[i]))
            return false;
    return true;
}

/* Appends steps as recorded, up to the one with index `end`. */
static bool append_recorded(struct edit *edit, size_t end, struct error *err)
{
    size_t from = edit->done;
    edit->done = end;
    return append(edit, &edit->program->steps[from], end - from, err);
}

/* Notes in the bits `in` of edit->live which slots are allocated after the steps of a part. */
static void run_part(struct edit *edit, const struct program *part, uint8_t in)
{
    for (size_t i = 0; i < part->step_count; i++) {
        const struct program_step *step = &part->steps[i];
        if (step->kind == STEP_MALLOC)
            edit->live[step->slot] |= in;
        else if (step->kind == STEP_FREE_COMPLETED)
            edit->live[step->slot] &= (uint8_t)~in;
    }
}

#define RECORDED 1
#define CHANGED  2

/* Sets *same if the changed steps of a part leave the same recorded slots allocated as the recorded
 * steps, so that the program can go on with these. Frees what they leave in other slots. */
static bool leaves_same(struct edit *edit, const struct program *part, struct program *changed,
                        bool *same, struct error *err)
{
    if (!vec_reserve(edit->live, edit->live_capacity, changed->slot_count + 1,
                     edit->program->budget, err))
        return false;
    for (size_t i = 0; i < changed->step_count; i++)
        edit->live[changed->steps[i].slot] = 0;
    for (size_t i = part->step_count; i-- > 0;) {
        const struct program_step *step = &part->steps[i];
        edit->live[step->slot] = step->kind == STEP_MALLOC ? 0 : RECORDED | CHANGED;
    }
    run_part(edit, part, RECORDED);
    run_part(edit, changed, CHANGED);
    *same = true;
    for (size_t i = 0; i < part->step_count; i++) {
        uint8_t live = edit->live[part->steps[i].slot];
        *same &= live == 0 || live == (RECORDED | CHANGED);
    }
    for (size_t i = 0, count = changed->step_count; i < count; i++) {
        struct program_step step = changed->steps[i];
        bool is_left = step.slot >= part->slot_count && edit->live[step.slot] != 0;
        edit->live[step.slot] = is_left ? 0 : edit->live[step.slot];
        step.kind = STEP_FREE_COMPLETED;
        if (is_left && !vec_push(changed->steps, changed->step_count, changed->step_capacity,
                                 changed->budget, err, step))
            return false;
    }
    return true;
}

static bool visit(void *context, const struct forward_chain *chain, struct error *err)
{
    struct edit *edit = context;
    struct replan_whole *whole = edit->whole;
    const struct program *program = edit->program;
    size_t from = step_from(program, chain->first), to = step_from(program, chain->end);
    if (whole->is_too_long || from < edit->done)
        return true;
    struct program part = *program, changed;
    part.steps += from;
    part.step_count = to - from;
    part.start_count = 0;
    if (part.step_count == 0)
        return true;
    if (!replan_map(edit->chain, edit->segments, edit->count, chain, &edit->mapped, err))
        return false;
    if (edit->mapped.count == 0)
        return true;
    if (!append_recorded(edit, from, err) ||
        !replan_edit(&part, chain, edit->mapped.segments, edit->mapped.count, false, &changed,
                     &whole->is_too_long, err))
        return false;
    bool same = false;
    bool ok = whole->is_too_long || leaves_same(edit, &part, &changed, &same, err);
    if (ok && same) {
        edit->done = to;
        ok = append(edit, changed.steps, changed.step_count, err);
        ok = ok && vec_push(whole->passes, whole->pass_count, whole->pass_capacity, program->budget,
                            err, ((struct item_range){chain->first, chain->end}));
        if (changed.slot_count > whole->program.slot_count)
            whole->program.slot_count = changed.slot_count;
    }
    replan_edit_release(&changed);
    edit->work += program->slot_count + (to - from);
    whole->is_too_long |=
        edit->work > MOST_WORK || whole->program.step_count > program->step_count + MOST_MORE;
    return ok;
}

bool replan_whole_edit(struct replan_whole *whole, const struct program *program,
                       struct site_table *sites, const struct forward_chain *chain,
                       const struct chain_segment *segments, size_t count, struct error *err)
{
    struct edit edit = {
        .program = program, .chain = chain, .segments = segments, .count = count, .whole = whole};
    *whole = (struct replan_whole){.program = *program};
    whole->program.steps = NULL;
    whole->program.step_count = whole->program.step_capacity = 0;
    bool ok = forward_chain_visit(chain, program->timeline, sites, visit, &edit, err) &&
              append_recorded(&edit, program->step_count, err);
    vec_free(edit.live, edit.live_capacity, 1, program->budget);
    vec_free(edit.mapped.segments, edit.mapped.capacity, sizeof(*edit.mapped.segments),
             chain->budget);
    if (!ok)
        replan_whole_release(whole);
    return ok;
}

void replan_whole_release(struct replan_whole *whole)
{
    vec_free(whole->passes, whole->pass_capacity, sizeof(*whole->passes), whole->program.budget);
    replan_edit_release(&whole->program);
    *whole = (struct replan_whole){0};
}

static bool is_edited(const struct replan_whole *whole, size_t item)
{
    size_t low = 0, high = whole->pass_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (whole->passes[middle].to <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < whole->pass_count && whole->passes[low].from <= item;
}

/* If an item is in a backward pass: the last item before it that a forward pass allocates. */
static bool find_forward(const struct timeline *timeline, struct site_table *sites, uint32_t *item,
                         bool *is_backward, struct error *err)
{
    const struct trace *trace = timeline->trace;
    *is_backward = false;
    for (uint32_t at = *item + 1; at-- > 0;) {
        if (trace->action[at] != trace->birth)
            continue;
        const struct stack_facts *facts = site_stack_facts(sites, trace->stack[at], err);
        if (!facts)
            return false;
        if (at == *item)
            *is_backward = facts->context == CONTEXT_BACKWARD;
        if (!*is_backward)
            return true;
        if (facts->context == CONTEXT_FORWARD) {
            *item = at;
            return true;
        }
    }
    *is_backward = false;
    return true;
}

bool replan_whole_peak(const struct replan_whole *whole, struct site_table *sites,
                       struct replan *replan, struct error *err)
{
    const struct timeline *timeline = whole->program.timeline;
    uint32_t item;
    if (!replan_find_peak(&whole->program, NULL, &replan->trace_total, &item, err))
        return false;
    if (item >= timeline->trace->count) /* what was live before the trace */
        return true;
    replan->trace_event = timeline->trace->first_event + item;
    replan->trace_changed = is_edited(whole, item);
    return find_forward(timeline, sites, &item, &replan->trace_backward, err) &&
           chain_name_place(timeline, sites, item, &replan->trace_at, err);
}
