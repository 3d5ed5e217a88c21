#include "analysis/phase/phases.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/phase/call_groups.h"
#include "analysis/phase/pattern.h"
#include "analysis/phase/recorded.h"
#include "analysis/phase/refine.h"
#include "analysis/phase/rollouts.h"
#include "analysis/phase/step_marks.h"
#include "analysis/phase/unfinished.h"

static enum phase phase_of_context(enum context context)
{
    switch (context) {
    case CONTEXT_FORWARD:
        return PHASE_FORWARD;
    case CONTEXT_BACKWARD:
    case CONTEXT_RECOMPUTE:
        return PHASE_BACKWARD;
    case CONTEXT_OPTIMIZER:
        return PHASE_OPTIMIZER;
    case CONTEXT_DATA:
        return PHASE_DATA;
    case CONTEXT_INIT:
    case CONTEXT_OTHER:
    case CONTEXT_ZERO_GRAD:
        return PHASE_OTHER;
    case CONTEXT_NONE:
        break;
    }
    return PHASE_UNKNOWN;
}

static bool is_memory_event(uint8_t action)
{
    return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
           action == ACTION_FREE_COMPLETED;
}

/* The phase that each stack shows, cached in a byte per stack; PHASE_UNASKED at first. */
struct stack_phases {
    uint8_t *phases;
    size_t count, capacity;
    struct site_table *sites;
};

#define PHASE_UNASKED UINT8_MAX

static bool stack_phases_init(struct stack_phases *known, struct site_table *sites,
                              struct budget *budget, struct error *err)
{
    *known = (struct stack_phases){.sites = sites};
    known->count = symbols_stack_count(site_table_symbols(sites));
    if (!vec_reserve(known->phases, known->capacity, known->count, budget, err))
        return false;
    memset(known->phases, PHASE_UNASKED, known->count);
    known->phases[STACK_NONE] = PHASE_UNKNOWN;
    return true;
}

static inline bool stack_phase(struct stack_phases *known, stack_id stack, enum phase *phase,
                               struct error *err)
{
    if (known->phases[stack] == PHASE_UNASKED) {
        const struct stack_facts *facts = site_stack_facts(known->sites, stack, err);
        if (!facts)
            return false;
        known->phases[stack] = (uint8_t)phase_of_context((enum context)facts->context);
    }
    *phase = (enum phase)known->phases[stack];
    return true;
}

/* Annotations by kind; each list is read once, along with the items. */
enum { MARK_STEP, MARK_DATA, MARK_ZERO_GRAD, MARK_KINDS };

struct marks {
    struct step_marks kinds[MARK_KINDS];
    size_t next[MARK_KINDS];
};

static bool marks_find(struct marks *marks, const struct timeline *timeline, struct error *err)
{
    static const char *const prefixes[MARK_KINDS] = {"Optimizer.step#", "enumerate(DataLoader)#",
                                                     "Optimizer.zero_grad#"};
    for (int i = 0; i < MARK_KINDS; i++)
        if (!step_marks_find(&marks->kinds[i], timeline, prefixes[i], false, err))
            return false;
    step_marks_find_closures(&marks->kinds[MARK_STEP], &marks->kinds[MARK_ZERO_GRAD]);
    return true;
}

static void marks_release(struct marks *marks)
{
    for (int i = 0; i < MARK_KINDS; i++)
        step_marks_release(&marks->kinds[i]);
}

/* The phase that the annotation open at an item shows, and in *begin where that began;
 * PHASE_UNKNOWN without an annotation. A step with a closure has several phases, so it shows none.
 * Items must come in order. */
static enum phase marked_phase(struct marks *marks, uint32_t item, uint32_t *begin)
{
    static const enum phase shown[MARK_KINDS] = {PHASE_OPTIMIZER, PHASE_DATA, PHASE_OTHER};
    enum phase phase = PHASE_UNKNOWN;
    for (int i = 0; i < MARK_KINDS; i++) {
        const struct step_marks *kind = &marks->kinds[i];
        while (marks->next[i] < kind->count && kind->items[marks->next[i]].end <= item)
            marks->next[i]++;
        if (marks->next[i] == kind->count || kind->items[marks->next[i]].begin > item)
            continue;
        phase = kind->items[marks->next[i]].has_closure ? PHASE_OTHER : shown[i];
        *begin = kind->items[marks->next[i]].begin;
    }
    return phase;
}

/* The state while the trace is read. */
struct reader {
    struct phases *phases;
    struct stack_phases *known;
    struct marks *marks;
    enum phase last_pass; /* PHASE_FORWARD or PHASE_BACKWARD, whichever came later */
    bool main_ran;        /* the last run is PHASE_OTHER, and the main program allocated in it */
    bool main_computes;   /* stacks of forward passes reach the main program */
    bool seen_memory; /* an event of memory was read; segment events before that belong to the run
                         that follows */
};

/* Begins a run, or removes the last one if it was too short to count. */
static bool begin_run(struct reader *reader, uint32_t item, enum phase phase,
                      enum phase_evidence evidence, struct error *err)
{
    struct phases *phases = reader->phases;
    struct phase_run *last = phases->count > 0 ? &phases->runs[phases->count - 1] : NULL;
    if (last && last->phase == PHASE_OTHER && phases->count > 1 &&
        item - last->first <= FLICKER_EVENTS && last[-1].phase == phase &&
        (phase == PHASE_OPTIMIZER || (phase == PHASE_BACKWARD && !reader->main_ran))) {
        phases->count--;
        return true;
    }
    return phases_append(phases, item, phase, evidence, err);
}

/* True if an allocation may come from an autograd thread. Such a thread runs no Python, so in a
 * trace that has stacks its allocations have none. It continues a backward pass that hooks
 * interrupted, or begins one after a forward pass, which phases_refine() checks. */
static bool may_be_autograd_thread(const struct reader *reader, const struct trace *trace,
                                   uint32_t item)
{
    return reader->phases->has_stacks && trace->action[item] == ACTION_ALLOC &&
           trace->stack[item] == STACK_NONE && reader->last_pass != PHASE_UNKNOWN;
}

/* True if a free without a stack may come from such a thread too: since the backward pass, the main
 * program has only freed a little. The thread drops the graph when its pass has ended. */
static bool drops_graph(const struct reader *reader, const struct trace *trace, uint32_t item)
{
    const struct phases *phases = reader->phases;
    const struct phase_run *last = &phases->runs[phases->count - 1];
    return phases->has_stacks && trace->action[item] != ACTION_ALLOC &&
           trace->stack[item] == STACK_NONE && last->phase == PHASE_OTHER && phases->count > 1 &&
           last[-1].phase == PHASE_BACKWARD && item - last->first <= FLICKER_EVENTS &&
           !reader->main_ran;
}

/* True if such a thread drops the graph of an ended pass as late as while the main program
 * computes. No pass begins there. */
static bool drops_late(const struct reader *reader, const struct trace *trace, uint32_t item,
                       enum phase phase)
{
    const struct phases *phases = reader->phases;
    return phase == PHASE_BACKWARD && trace->action[item] != ACTION_ALLOC && reader->main_ran &&
           reader->last_pass == PHASE_BACKWARD &&
           phases->runs[phases->count - 1].phase == PHASE_OTHER;
}

/* True for code that autograd calls in a backward pass, such as a hook: its stack does not reach
 * the main program, which waits for the pass. That shows nothing if the stacks of forward passes do
 * not reach the main program either. */
static bool is_called_by_autograd(struct reader *reader, const struct trace *trace, uint32_t item)
{
    const struct phases *phases = reader->phases;
    if (!reader->main_computes || phases->runs[phases->count - 1].phase != PHASE_BACKWARD)
        return false;
    struct error err; /* cannot fail, because the stack's phase is known */
    const struct stack_facts *facts =
        site_stack_facts(reader->known->sites, trace->stack[item], &err);
    return facts && facts->context == CONTEXT_OTHER && !facts->in_main &&
           facts->site.any_python_frame != NO_FRAME;
}

/* Notes whether the stacks of forward passes reach the main program. */
static void look_at_forward(struct reader *reader, const struct trace *trace, uint32_t item)
{
    struct error err; /* as above */
    const struct stack_facts *facts =
        site_stack_facts(reader->known->sites, trace->stack[item], &err);
    reader->main_computes = reader->main_computes || (facts && facts->in_main);
}

static bool read_item(struct reader *reader, const struct trace *trace, uint32_t item,
                      struct error *err)
{
    struct phases *phases = reader->phases;
    const struct phase_run *last = &phases->runs[phases->count - 1];
    uint32_t first = reader->seen_memory ? item : 0, begin = 0;
    enum phase_evidence evidence = PHASE_BY_STACK;
    enum phase phase;
    reader->seen_memory = true;
    if (!stack_phase(reader->known, trace->stack[item], &phase, err))
        return false;
    if (trace->stack[item] != STACK_NONE && trace->action[item] == ACTION_ALLOC)
        phases->has_stacks = true;
    if (drops_late(reader, trace, item, phase))
        return true;
    if (phase == PHASE_FORWARD && !reader->main_computes)
        look_at_forward(reader, trace, item);
    if (phase == PHASE_OTHER && is_called_by_autograd(reader, trace, item))
        return true;
    if (phase == PHASE_UNKNOWN && drops_graph(reader, trace, item)) {
        phase = PHASE_BACKWARD;
    } else if (phase == PHASE_UNKNOWN) {
        evidence = PHASE_BY_ANNOTATION;
        phase = marked_phase(reader->marks, item, &begin);
        bool step_goes_on = last->phase > PHASE_DATA && last->evidence == PHASE_BY_STACK;
        if (phase == PHASE_UNKNOWN && last->evidence == PHASE_BY_ANNOTATION)
            phase = PHASE_OTHER;
        else if (step_goes_on && begin <= last->first)
            phase = PHASE_UNKNOWN;
        if (phase <= PHASE_OTHER && may_be_autograd_thread(reader, trace, item)) {
            phase = PHASE_BACKWARD;
            evidence = reader->last_pass == PHASE_BACKWARD ? PHASE_BY_STACK : PHASE_BY_LIFETIMES;
        }
    }
    if (phase == PHASE_FORWARD || phase == PHASE_BACKWARD)
        reader->last_pass = phase;
    if (phase != PHASE_UNKNOWN && phase != last->phase) {
        if (!begin_run(reader, first, phase, evidence, err))
            return false;
        reader->main_ran = false;
    }
    if (phase == PHASE_OTHER && trace->action[item] == ACTION_ALLOC) {
        const struct stack_facts *facts =
            site_stack_facts(reader->known->sites, trace->stack[item], err);
        reader->main_ran = reader->main_ran || (facts && facts->in_main);
        return facts != NULL;
    }
    return true;
}

static bool find_runs(struct phases *phases, const struct timeline *timeline,
                      struct stack_phases *known, struct marks *marks, struct error *err)
{
    const struct trace *trace = timeline->trace;
    struct reader reader = {.phases = phases, .known = known, .marks = marks};
    if (trace->count > 0 && !phases_append(phases, 0, PHASE_UNKNOWN, PHASE_BY_STACK, err))
        return false;
    if (!trace_has_lifetimes(trace)) /* without lifetimes, phases would be useless */
        return true;
    for (size_t i = 0; i < trace->count; i++)
        if (is_memory_event(trace->action[i]) && !read_item(&reader, trace, (uint32_t)i, err))
            return false;
    phases_mark_unfinished(phases, timeline);
    return true;
}

static void sum_up(struct phases *phases)
{
    uint32_t pass = 0;
    bool backward = false;
    phases->any_step = false;
    for (size_t i = 0; i < phases->count; i++) {
        struct phase_run *run = &phases->runs[i];
        phases->any_step = phases->any_step || run->phase > PHASE_DATA;
        if (run->phase == PHASE_FORWARD && backward) {
            pass++;
            backward = false;
        }
        backward = backward || run->phase == PHASE_BACKWARD;
        run->pass = pass;
    }
}

static bool make_guide(struct phases *phases, size_t items, struct error *err)
{
    size_t count = items / PHASE_STRIDE + 1;
    if (!vec_reserve(phases->guide, phases->guide_capacity, count, phases->budget, err))
        return false;
    uint32_t run = 0;
    for (size_t i = 0; i < count; i++) {
        while (run + 1 < phases->count && phases->runs[run + 1].first <= i * PHASE_STRIDE)
            run++;
        phases->guide[i] = run;
    }
    return true;
}

/* Notes the runs in which each lifetime begins and ends, because nearly every analysis needs them.
 */
static bool note_lifetimes(struct phases *phases, const struct timeline *timeline,
                           struct error *err)
{
    uint32_t run = 0;
    size_t most = timeline->lifetime_count + 1, count = 0;
    if (!vec_reserve(phases->of_lifetime, phases->lifetime_capacity, most, phases->budget, err) ||
        !vec_reserve(phases->outliving, phases->outliving_capacity, most, phases->budget, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        while (run + 1 < phases->count && phases->runs[run + 1].first <= lifetime->alloc)
            run++;
        uint32_t end = phases_run_of(phases, lifetime_end(lifetime));
        phases->of_lifetime[i] = (struct lifetime_runs){run, end};
        phases->outliving[count] = (uint32_t)i;
        count += run != end;
    }
    phases->outliving_count = count;
    return true;
}

static bool index_runs(struct phases *phases, const struct timeline *timeline, struct error *err)
{
    return make_guide(phases, timeline->trace->count, err) &&
           note_lifetimes(phases, timeline, err) && phases_mark_recorded(phases, timeline, err);
}

bool phases_build(struct phases *phases, const struct timeline *timeline, struct site_table *sites,
                  struct error *err)
{
    struct phases made = {.budget = timeline->snapshot->budget};
    struct marks marks = {0};
    struct stack_phases known = {0};
    bool ok =
        marks_find(&marks, timeline, err) && stack_phases_init(&known, sites, made.budget, err) &&
        find_runs(&made, timeline, &known, &marks, err) && index_runs(&made, timeline, err) &&
        (made.has_stacks ? phases_refine(&made, timeline, sites, &marks.kinds[MARK_STEP],
                                         (struct known_sizes){0}, err) &&
                               phases_guess_forward(&made, timeline, err)
                         : phases_from_lifetimes(&made, timeline, &marks.kinds[MARK_STEP], err));
    sum_up(&made);
    ok = ok && index_runs(&made, timeline, err) && call_groups_find(&made, timeline, sites, err) &&
         rollouts_note_inputs(&made, timeline, sites, err);
    marks_release(&marks);
    vec_free(known.phases, known.capacity, 1, made.budget);
    if (!ok) {
        phases_release(&made);
        return false;
    }
    *phases = made;
    return true;
}
