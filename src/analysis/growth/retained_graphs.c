#include "analysis/growth/retained_graphs.h"

#include <string.h>

#include "analysis/growth/early_ends.h"
#include "analysis/growth/handed_graphs.h"
#include "analysis/phase/births.h"
#include "base/text.h"

#define MOST_IN_ITERATION 8 /* backward passes that may go through one graph */
#define MOST_UPDATES      2 /* optimizer steps until the next iteration sets variables again */

/* Of the tensors that are left, the part for which the backward passes must have computed one. */
#define COMPUTED 3 / 4
/* The part of one count that a similar one reaches at least. */
#define SIMILAR 9 / 10

/* What the backward passes of a step do, by its number (phase_run.pass). */
struct step_sums {
    uint32_t last;     /* the last run of the backward passes; NO_RUN: none */
    uint32_t computed; /* allocations in them */
    uint32_t freed;    /* tensors saved by the forward pass that they free */
    uint32_t left;     /* tensors saved by it that the graph frees later */
};

/* The same of all passes from one on, up to the next optimizer step. */
static struct step_sums sums_until_update(const struct step_sums *sums, size_t passes,
                                          const struct phase_run *runs, uint32_t pass)
{
    struct step_sums all = sums[pass];
    for (size_t next = pass + (size_t)1; next < passes && next - pass <= MOST_IN_ITERATION;
         next++) {
        if (sums[next].last == NO_RUN || runs[sums[next].last].updates != runs[all.last].updates)
            break;
        all.last = sums[next].last;
        all.computed += sums[next].computed;
        all.freed += sums[next].freed;
        all.left += sums[next].left;
    }
    return all;
}

/* A tensor that may count, in the order of birth. */
struct item {
    uint32_t lifetime, pass;
    uint8_t forwards; /* functions named forward in its stack, at most 2 */
    bool is_far;      /* outlives the next backward pass: see is_set_again() */
    bool is_late;     /* outlives the next iteration as well */
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phases *phases;
    const uint8_t *is_dropped;
    struct step_sums *sums;
    size_t passes; /* number of sums */
    struct item *items;
    uint32_t *from; /* by lifetime: see early_ends.h */
    uint8_t *is_held;
    uint8_t *in_time; /* by stack: some of its tensors are not late */
    size_t sums_capacity, count, capacity, from_capacity, held_capacity, time_capacity;
    struct budget *budget;
};

static bool make_room(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->phases;
    size_t passes = phases->runs[phases->count - 1].pass + (size_t)1;
    size_t stacks = symbols_stack_count(site_table_symbols(finder->sites)) + 1;
    if (!vec_reserve(finder->sums, finder->sums_capacity, passes, finder->budget, err) ||
        !vec_reserve(finder->in_time, finder->time_capacity, stacks, finder->budget, err))
        return false;
    memset(finder->in_time, 0, stacks);
    finder->passes = passes;
    for (size_t i = 0; i < passes; i++)
        finder->sums[i] = (struct step_sums){.last = NO_RUN};
    for (uint32_t run = 0; run < phases->count; run++)
        if (phases->runs[run].phase == PHASE_BACKWARD)
            finder->sums[phases->runs[run].pass].last = run;
    return true;
}

static enum phase phase_of(const struct finder *finder, uint32_t run)
{
    return run == NO_RUN ? PHASE_UNKNOWN : (enum phase)finder->phases->runs[run].phase;
}

static void count_computed(struct finder *finder)
{
    const struct phases *phases = finder->phases;
    for (size_t i = 0; i < finder->timeline->lifetime_count; i++) {
        uint32_t birth = phases->of_lifetime[i].birth;
        if (phase_of(finder, birth) == PHASE_BACKWARD)
            finder->sums[phases->runs[birth].pass].computed++;
    }
}

static uint8_t count_forwards(const struct finder *finder, stack_id id)
{
    const struct symbols *symbols = site_table_symbols(finder->sites);
    struct stack stack = symbols_stack_at(symbols, id);
    uint8_t count = 0;
    for (size_t i = 0; i < stack.count && count < 2; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        if (site_frame_kind(finder->sites, stack.frames[i]) != FRAME_NATIVE &&
            text_equals(symbols_text(symbols, frame.name), "forward"))
            count++;
    }
    return count;
}

/* True if a graph is freed before the backward passes after the next ones, or, where a step runs
 * many as an attack does, before the optimizer steps. */
static bool is_near(const struct finder *finder, uint32_t last, uint32_t end)
{
    const struct phase_run *runs = finder->phases->runs;
    return runs[end].pass <= runs[last].pass + 1 || runs[end].updates == runs[last].updates;
}

/* True if a graph is freed after the last backward pass of its iteration, and before that of the
 * next one is over: there, the code that made it sets its variables again. An iteration may have
 * several passes, as where a penalty takes gradients of gradients. Another optimizer may step in
 * between, as that of a GAN's generator in every fifth iteration: then *is_late, and the graph
 * counts only if those of other iterations are freed in time. */
static bool is_set_again(const struct finder *finder, uint32_t pass, uint32_t end, bool *is_late)
{
    const struct phase_run *runs = finder->phases->runs;
    struct step_sums all = sums_until_update(finder->sums, finder->passes, runs, pass);
    *is_late = runs[end].updates > runs[all.last].updates + 1;
    return end > all.last && runs[end].updates <= runs[all.last].updates + MOST_UPDATES;
}

/* Judges a tensor that is never freed, as of the last iteration: it counts if those of the same
 * code in earlier iterations do. */
static bool judge_last(struct finder *finder, uint32_t index, struct error *err)
{
    const struct phases *phases = finder->phases;
    uint32_t birth = phases->of_lifetime[index].birth;
    stack_id stack = finder->timeline->trace->stack[finder->timeline->lifetimes[index].alloc];
    struct step_sums *sums = &finder->sums[phases->runs[birth].pass];
    if (sums->last == NO_RUN || sums->last < birth || !finder->in_time[stack])
        return true;
    sums->left += phase_of(finder, birth) != PHASE_BACKWARD;
    struct item item = {index, phases->runs[birth].pass, count_forwards(finder, stack), true, true};
    return vec_push(finder->items, finder->count, finder->capacity, finder->budget, err, item);
}

/* Judges a tensor that outlives the run that made it, by the stack that frees it. */
static bool judge(struct finder *finder, uint32_t index, struct error *err)
{
    const struct phases *phases = finder->phases;
    const stack_id *stacks = finder->timeline->trace->stack;
    const struct lifetime *lifetime = &finder->timeline->lifetimes[index];
    struct lifetime_runs runs = phases->of_lifetime[index];
    struct step_sums *sums = &finder->sums[phases->runs[runs.birth].pass];
    if (runs.end == NO_RUN)
        return judge_last(finder, index, err);
    const struct stack_facts *facts =
        site_stack_facts(finder->sites, stacks[lifetime_end(lifetime)], err);
    if (!facts)
        return false;
    if (sums->last == NO_RUN || sums->last < runs.birth || !facts->releases_graph)
        return true;
    bool is_dropped = facts->site.has_backward && !facts->evaluates;
    if (!is_dropped && (phase_of(finder, runs.end) == PHASE_BACKWARD || facts->site.has_backward)) {
        sums->freed += facts->releases_saved;
        return true;
    }
    bool is_far = !is_near(finder, sums->last, runs.end), is_late = false;
    if (runs.end < sums->last ||
        (is_far && !is_set_again(finder, phases->runs[runs.birth].pass, runs.end, &is_late)))
        return true;
    finder->in_time[stacks[lifetime->alloc]] |= !is_late;
    sums->left += phase_of(finder, runs.birth) != PHASE_BACKWARD;
    struct item item = {index, phases->runs[runs.birth].pass,
                        count_forwards(finder, stacks[lifetime->alloc]), is_far, is_late};
    return vec_push(finder->items, finder->count, finder->capacity, finder->budget, err, item);
}

/* True for activations, and for what a backward pass computes that is recorded itself. */
static bool may_be_saved(const struct finder *finder, uint32_t index)
{
    uint8_t category = finder->categories->of_lifetime[index];
    return category == CATEGORY_ACTIVATION ||
           (category == CATEGORY_AUTOGRAD_DETAIL &&
            phase_of(finder, finder->phases->of_lifetime[index].birth) == PHASE_BACKWARD);
}

static bool judge_all(struct finder *finder, struct error *err)
{
    const struct phases *phases = finder->phases;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t i = phases->outliving[n];
        if (may_be_saved(finder, i) && (!finder->is_dropped || !finder->is_dropped[i]) &&
            !judge(finder, i, err))
            return false;
    }
    return true;
}

/* What the backward passes do that may go through the graph of a tensor. */
static struct step_sums sums_of(const struct finder *finder, const struct item *item)
{
    return item->is_far
               ? sums_until_update(finder->sums, finder->passes, finder->phases->runs, item->pass)
               : finder->sums[item->pass];
}

static bool all_is_left(const struct step_sums *sums)
{
    return sums->freed == 0 && sums->computed >= sums->left * COMPUTED;
}

/* True if a later pass goes through no graph but its own: it computes no more than an earlier one
 * whose forward pass left as much. Or it frees what its forward pass saved, and so would have freed
 * the graph of the earlier one. */
static bool is_on_its_own(const struct step_sums *earlier, const struct step_sums *later)
{
    return later->freed > 0 || (later->computed * SIMILAR <= earlier->computed &&
                                later->left >= earlier->left * SIMILAR);
}

/* The last of the backward passes of a tensor's step that may go through its graph, if other passes
 * are of other graphs, as the training pass that follows an attack on its input. */
static uint32_t last_pass_through(const struct finder *finder, const struct item *item)
{
    const struct phase_run *runs = finder->phases->runs;
    const struct step_sums *own = &finder->sums[item->pass];
    uint32_t last = item->pass;
    for (uint32_t pass = item->pass + 1;
         pass < finder->passes && pass - item->pass <= MOST_IN_ITERATION; pass++) {
        const struct step_sums *sums = &finder->sums[pass];
        if (sums->last == NO_RUN || runs[sums->last].updates != runs[own->last].updates)
            break;
        if (!is_on_its_own(own, sums))
            last = pass;
    }
    return last;
}

/* The last backward run through the graph of a tensor, if the backward passes of its step kept the
 * graph; else NO_RUN. */
static uint32_t keeps_graph(const struct finder *finder, const struct item *item)
{
    struct step_sums sums = sums_of(finder, item);
    uint32_t alloc = finder->timeline->lifetimes[item->lifetime].alloc;
    if (item->is_late && !finder->in_time[finder->timeline->trace->stack[alloc]])
        return NO_RUN;
    if (all_is_left(&sums))
        return sums.last;
    if (!all_is_left(&finder->sums[item->pass]))
        return NO_RUN;
    const struct step_sums *through = &finder->sums[last_pass_through(finder, item)];
    return through->computed >= finder->sums[item->pass].left * COMPUTED ? through->last : NO_RUN;
}

/* True if the code outside of the layers comes next: the tensor is the last result of a call. */
static bool is_last_of_call(const struct finder *finder, size_t at)
{
    const struct item *item = &finder->items[at], *next = item + 1;
    return item->forwards > 0 &&
           (at + 1 == finder->count || next->pass != item->pass || next->forwards < item->forwards);
}

/* Flags what counts. Of a call of a model, leaves out its last result and the last one that a layer
 * in it returns to the model. */
static bool flag(struct finder *finder, struct error *err)
{
    size_t lifetimes = finder->timeline->lifetime_count, last = SIZE_MAX;
    size_t items = finder->timeline->trace->count;
    if (!vec_reserve(finder->is_held, finder->held_capacity, lifetimes + 1, finder->budget, err) ||
        !vec_reserve(finder->from, finder->from_capacity, lifetimes + 1, finder->budget, err))
        return false;
    memset(finder->is_held, 0, lifetimes + 1);
    memset(finder->from, 0, (lifetimes + 1) * sizeof(*finder->from));
    for (size_t i = 0; i < finder->count; i++) {
        const struct item *item = &finder->items[i];
        uint32_t run = keeps_graph(finder, item);
        if (run == NO_RUN)
            continue;
        bool is_last = is_last_of_call(finder, i);
        finder->from[item->lifetime] = phases_run_end(finder->phases, run, items);
        finder->is_held[item->lifetime] = !is_last || item->forwards > 1;
        if (is_last && item->forwards > 1)
            last = i;
        bool ends = i + 1 == finder->count || finder->items[i + 1].pass != item->pass ||
                    (is_last && finder->items[i + 1].forwards == 0);
        if (ends && last != SIZE_MAX) {
            finder->is_held[finder->items[last].lifetime] = false;
            last = SIZE_MAX;
        }
    }
    return handed_graphs_mark(finder->is_held, finder->from, finder->timeline, finder->sites,
                              finder->categories, finder->phases, finder->is_dropped, err);
}

/* Sums what is live at the peak of the graphs that a backward pass goes through at that moment. */
static int64_t sum_in_backward(const struct finder *finder)
{
    const struct timeline *timeline = finder->timeline;
    int64_t peak = timeline->active.peak_event, bytes = 0;
    uint32_t run = peak < 0 ? NO_RUN : phases_run_of(finder->phases, (uint32_t)peak);
    if (phase_of(finder, run) != PHASE_BACKWARD)
        return 0;
    for (size_t i = 0; i < finder->count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[finder->items[i].lifetime];
        if (finder->items[i].pass == finder->phases->runs[run].pass &&
            keeps_graph(finder, &finder->items[i]) != NO_RUN && (int64_t)lifetime->alloc <= peak)
            bytes += (int64_t)trace_size(timeline->trace, lifetime->alloc);
    }
    return bytes;
}

static bool is_at_peak(const struct finder *finder, uint32_t index)
{
    int64_t peak = finder->timeline->active.peak_event;
    return finder->is_held[index] && peak >= (int64_t)finder->from[index] &&
           peak < (int64_t)finder->timeline->lifetimes[index].free_completed;
}

static void sum_at_peak(const struct finder *finder, struct retained_graphs *retained)
{
    const struct timeline *timeline = finder->timeline;
    const struct phases *phases = finder->phases;
    uint32_t pass = NO_RUN;
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t index = phases->outliving[n];
        if (!is_at_peak(finder, index))
            continue;
        int64_t size = (int64_t)trace_size(timeline->trace, timeline->lifetimes[index].alloc);
        retained->at_peak_bytes += size;
        if (finder->is_held[index] != HANDED)
            continue;
        retained->handed_bytes += size;
        retained->handed_passes += phases->runs[phases->of_lifetime[index].birth].pass != pass;
        pass = phases->runs[phases->of_lifetime[index].birth].pass;
    }
}

/* Adds the graph that is made before the first backward pass, if the program retains others. */
static bool add_early(const struct finder *finder, struct retained_graphs *retained,
                      struct error *err)
{
    stack_id later = STACK_NONE;
    for (size_t i = finder->count; i-- > 0 && later == STACK_NONE;)
        if (finder->items[i].forwards > 0 && keeps_graph(finder, &finder->items[i]) != NO_RUN)
            later = finder->timeline->trace
                        ->stack[finder->timeline->lifetimes[finder->items[i].lifetime].alloc];
    if (later != STACK_NONE &&
        !early_graph_mark(&retained->early, finder->is_held, later, finder->timeline, finder->sites,
                          finder->categories, finder->phases, finder->is_dropped, err))
        return false;
    retained->at_peak_bytes += retained->early.at_peak_bytes;
    return true;
}

/* Measures what counts at the peak, and keeps the flags of that alone. */
static bool measure(struct finder *finder, struct retained_graphs *retained, struct error *err)
{
    const struct phases *phases = finder->phases;
    retained->in_backward_bytes = sum_in_backward(finder);
    sum_at_peak(finder, retained);
    struct early_saving saving = {0};
    if (!add_early(finder, retained, err))
        return false;
    if (retained->at_peak_bytes > 0 &&
        !early_ends_save(finder->timeline, finder->sites, finder->categories, finder->is_held,
                         finder->from, &saving, err))
        return false;
    retained->save_bytes = early_saving_bound(&saving, &retained->saves_at_most);
    for (size_t n = 0; n < phases->outliving_count; n++) {
        uint32_t index = phases->outliving[n];
        finder->is_held[index] = is_at_peak(finder, index);
    }
    return true;
}

bool retained_graphs_find(struct retained_graphs *retained, const struct timeline *timeline,
                          struct site_table *sites, const struct categories *categories,
                          const struct phases *phases, const uint8_t *is_dropped, struct error *err)
{
    struct retained_graphs made = {.budget = timeline->snapshot->budget};
    struct finder finder = {.timeline = timeline,
                            .sites = sites,
                            .categories = categories,
                            .phases = phases,
                            .is_dropped = is_dropped,
                            .budget = made.budget};
    bool ok = true;
    if (phases->has_stacks && phases_have(phases, PHASE_BACKWARD)) {
        ok = make_room(&finder, err);
        if (ok)
            count_computed(&finder);
        ok = ok && judge_all(&finder, err) && flag(&finder, err) && measure(&finder, &made, err);
    }
    vec_free(finder.sums, finder.sums_capacity, sizeof(*finder.sums), made.budget);
    vec_free(finder.in_time, finder.time_capacity, 1, made.budget);
    vec_free(finder.items, finder.capacity, sizeof(*finder.items), made.budget);
    vec_free(finder.from, finder.from_capacity, sizeof(*finder.from), made.budget);
    made.is_retained = finder.is_held;
    made.capacity = finder.held_capacity;
    if (!ok || (made.at_peak_bytes == 0 && made.in_backward_bytes == 0))
        retained_graphs_release(&made);
    if (ok)
        *retained = made;
    return ok;
}

void retained_graphs_release(struct retained_graphs *retained)
{
    vec_free(retained->is_retained, retained->capacity, sizeof(*retained->is_retained),
             retained->budget);
    *retained = (struct retained_graphs){0};
}
