#include "analysis/phase/rollouts.h"

#include "analysis/phase/births.h"
#include "analysis/phase/forward.h"

#define LEAST_ITERATIONS 3
#define LEAST_BYTES      1024 /* that a rollout collects; results of an evaluation are scalars */
/* Different numbers of steps: a program may end an iteration early. */
#define MOST_LENGTHS 2
/* Forward passes in a row, as a multiple of the fewest that come before a backward pass. */
#define MANY_PASSES 2
/* 1 in this many bytes of a batch, such as the numbers of its samples, may be made anew. */
#define NEW_PART 8

/* The part of the trace from the end of an optimizer step to the backward pass of the next step. */
struct gap {
    uint32_t first, forward, backward; /* items: the beginning, the first pass, the backward pass */
    size_t from, to;                   /* runs of phases from `first` to `backward` */
    size_t passes;                     /* forward runs */
    uint32_t rollout_end;              /* the end of the last pass of a rollout; 0: there is none */
    uint64_t batch_bytes;              /* made before the first pass, for the backward pass */
    uint64_t new_bytes;                /* input_bytes of the runs before the first pass */
    uint64_t collected_bytes;
};

struct finder {
    const struct timeline *timeline;
    const struct phases *phases;
    struct step_marks *marks;
    struct gap *gaps; /* by mark */
    uint32_t *ended;  /* by stack: 1 + the gap in which an allocation of it was made and freed */
    size_t gap_capacity, ended_capacity;
    size_t shortest; /* number of steps of an iteration */
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

bool rollouts_note_inputs(struct phases *phases, const struct timeline *timeline,
                          struct site_table *sites, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(sites);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t index = phases->outliving[n], alloc = timeline->lifetimes[index].alloc;
        struct phase_run *run = &phases->runs[phases->of_lifetime[index].birth];
        if (run->phase != PHASE_OTHER && run->phase != PHASE_DATA)
            continue;
        const struct stack_facts *facts =
            site_stack_facts(sites, timeline->trace->stack[alloc], err);
        if (!facts)
            return false;
        if (op_may_make_input(symbols, facts->site.op))
            run->input_bytes += trace_size(timeline->trace, alloc);
    }
    return true;
}

/* Fills in the items of a gap; false if no backward pass comes before the mark. */
static bool place(const struct finder *finder, const struct step_mark *mark, struct gap *gap)
{
    const struct phases *phases = finder->phases;
    size_t from = phases_run_of(phases, gap->first), run = from;
    gap->forward = gap->backward = EVENT_NEVER;
    for (; run < phases->count && phases->runs[run].first < mark->begin; run++) {
        const struct phase_run *at = &phases->runs[run];
        if (at->phase == PHASE_FORWARD && at->first >= gap->first && gap->passes++ == 0)
            gap->forward = at->first;
        if (gap->passes == 0)
            gap->new_bytes += at->input_bytes;
        if (at->phase == PHASE_BACKWARD && at->first >= gap->first) {
            gap->backward = at->first;
            break;
        }
    }
    gap->from = from;
    gap->to = run;
    return gap->passes > 0 && gap->backward != EVENT_NEVER;
}

/* Tells rollouts from the passes of a step, of which no gap has fewer. */
static void find_rollouts(struct finder *finder)
{
    const struct phase_run *runs = finder->phases->runs;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < finder->marks->count; i++)
        least = finder->gaps[i].passes < least ? finder->gaps[i].passes : least;
    for (size_t i = 0; i < finder->marks->count; i++) {
        struct gap *gap = &finder->gaps[i];
        size_t passes = gap->passes;
        for (size_t run = gap->from; run < gap->to && gap->passes > MANY_PASSES * least; run++)
            if (runs[run].phase == PHASE_FORWARD && runs[run].first >= gap->first &&
                passes-- > least)
                gap->rollout_end = runs[run + 1].first;
    }
}

/* Sums what a gap makes for its step, and what its rollout collects for several steps. The last of
 * a series, of which each allocation replaces the one before, does not count. */
static void measure(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->timeline;
    const struct step_marks *marks = finder->marks;
    struct gap *gap = &finder->gaps[index];
    size_t from = births_from(timeline, gap->first), to = births_from(timeline, gap->backward);
    for (size_t i = from; i < to; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (lifetime_end(lifetime) < gap->backward)
            finder->ended[timeline->trace->stack[lifetime->alloc]] = (uint32_t)index + 1;
        else if (lifetime->alloc < gap->forward)
            gap->batch_bytes += size_of(finder, i);
    }
    uint32_t until = marks->items[index + 1 < marks->count ? index + 1 : index].end;
    for (size_t i = from; i < to; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        stack_id stack = timeline->trace->stack[lifetime->alloc];
        if (lifetime->alloc < gap->rollout_end && stack != STACK_NONE &&
            finder->ended[stack] != index + 1 && lifetime_end(lifetime) >= until)
            gap->collected_bytes += size_of(finder, i);
    }
}

static bool collects(const struct finder *finder, size_t index)
{
    return finder->gaps[index].collected_bytes >= LEAST_BYTES;
}

/* The mark with the next rollout, or the number of marks. */
static size_t next_rollout(const struct finder *finder, size_t index)
{
    do
        index++;
    while (index < finder->marks->count && !collects(finder, index));
    return index;
}

/* True if at least half of what a rollout collects is gone after the first step of the next. */
static bool is_replaced(const struct finder *finder, size_t index, size_t next)
{
    const struct timeline *timeline = finder->timeline;
    const struct gap *gap = &finder->gaps[index];
    uint64_t gone = 0;
    for (size_t i = births_from(timeline, gap->first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < gap->rollout_end; i++) {
        uint32_t end = lifetime_end(&timeline->lifetimes[i]);
        if (end >= finder->marks->items[index + 1].end && end < finder->marks->items[next].end &&
            finder->timeline->trace->stack[timeline->lifetimes[i].alloc] != STACK_NONE)
            gone += size_of(finder, i);
    }
    return gone >= gap->collected_bytes / 2;
}

/* True if the rollouts are regular. The first and the last iteration may be cut off, and the first
 * one makes the model, too. */
static bool is_regular(struct finder *finder)
{
    size_t lengths[MOST_LENGTHS], length_count = 0, iterations = 1, marks = finder->marks->count;
    uint64_t batch = 0, least = UINT64_MAX;
    for (size_t i = 1; i + 1 < marks; i++) {
        const struct gap *gap = &finder->gaps[i];
        if (collects(finder, i))
            least = gap->collected_bytes < least ? gap->collected_bytes : least;
        else
            batch = gap->batch_bytes > batch ? gap->batch_bytes : batch;
        if (!collects(finder, i) && gap->new_bytes > gap->batch_bytes / NEW_PART)
            return false;
    }
    finder->shortest = SIZE_MAX;
    for (size_t i = next_rollout(finder, 0), next; i < marks; i = next) {
        next = next_rollout(finder, i);
        iterations++;
        if (next == marks)
            continue;
        size_t at = 0;
        finder->shortest = next - i < finder->shortest ? next - i : finder->shortest;
        while (at < length_count && lengths[at] != next - i)
            at++;
        if (at == MOST_LENGTHS || next - i < 2 || !is_replaced(finder, i, next))
            return false;
        if (at == length_count)
            lengths[length_count++] = next - i;
    }
    return iterations >= LEAST_ITERATIONS && length_count > 0 && least >= batch;
}

static void join(const struct finder *finder)
{
    struct step_marks *marks = finder->marks;
    size_t first = 0;
    for (size_t i = 0; i < marks->count; i++) {
        bool ends = i + 1 == marks->count || collects(finder, i + 1);
        bool is_cut = i + 1 == marks->count && i + 1 - first < finder->shortest;
        marks->items[i].joins_next = !ends || is_cut;
        first = ends ? i + 1 : first;
    }
}

bool rollouts_find(struct step_marks *marks, const struct timeline *timeline,
                   const struct phases *phases, struct error *err)
{
    struct finder finder = {.timeline = timeline, .phases = phases, .marks = marks};
    struct budget *budget = timeline->snapshot->budget;
    size_t stacks = symbols_stack_count(timeline->snapshot->symbols) + 1;
    if (marks->count <= LEAST_ITERATIONS || !phases->has_stacks)
        return true;
    bool ok = vec_reserve(finder.gaps, finder.gap_capacity, marks->count, budget, err) &&
              vec_reserve(finder.ended, finder.ended_capacity, stacks, budget, err);
    bool found = ok;
    for (size_t i = 0; ok && i < stacks; i++)
        finder.ended[i] = 0;
    for (size_t i = 0; found && i < marks->count; i++) {
        finder.gaps[i] = (struct gap){.first = i > 0 ? marks->items[i - 1].end : 0};
        found = !marks->items[i].has_closure && !marks->items[i].joins_next &&
                place(&finder, &marks->items[i], &finder.gaps[i]);
    }
    if (found)
        find_rollouts(&finder);
    for (size_t i = 0; found && i < marks->count; i++)
        measure(&finder, i);
    if (found && is_regular(&finder))
        join(&finder);
    vec_free(finder.gaps, finder.gap_capacity, sizeof(*finder.gaps), budget);
    vec_free(finder.ended, finder.ended_capacity, sizeof(*finder.ended), budget);
    return ok;
}
