#include "analysis/growth/retained_items.h"

#include <string.h>

#include "analysis/growth/graph_bursts.h"
#include "analysis/phase/births.h"
#include "base/text.h"

#define MOST_IN_ITERATION 8 /* backward passes that may go through one graph */
#define MOST_UPDATES      2 /* optimizer steps until the next iteration sets variables again */

/* Of the tensors that are left, the part for which the backward passes must have computed one. */
#define COMPUTED 3 / 4
/* The part of one count that a similar one reaches at least. */
#define SIMILAR 9 / 10

/* The same of all passes from one on, up to the next optimizer step. */
static struct backward_sums sums_until_update(const struct backward_sums *sums, size_t passes,
                                              const struct phase_run *runs, uint32_t pass)
{
    struct backward_sums all = sums[pass];
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

static bool make_room(struct retained_items *items, struct error *err)
{
    const struct phases *phases = items->phases;
    size_t passes = phases->runs[phases->count - 1].pass + (size_t)1;
    size_t stacks = symbols_stack_count(site_table_symbols(items->sites)) + 1;
    size_t lifetimes = items->timeline->lifetime_count + 1;
    if (!vec_reserve(items->in_burst, items->burst_capacity, lifetimes, items->budget, err) ||
        !vec_reserve(items->sums, items->sums_capacity, passes, items->budget, err) ||
        !vec_reserve(items->in_time, items->time_capacity, stacks, items->budget, err))
        return false;
    memset(items->in_time, 0, stacks);
    memset(items->in_burst, 0, lifetimes);
    items->passes = passes;
    for (size_t i = 0; i < passes; i++)
        items->sums[i] = (struct backward_sums){.last = NO_RUN};
    for (uint32_t run = 0; run < phases->count; run++)
        if (phases->runs[run].phase == PHASE_BACKWARD)
            items->sums[phases->runs[run].pass].last = run;
    return true;
}

static enum phase phase_of(const struct retained_items *items, uint32_t run)
{
    return run == NO_RUN ? PHASE_UNKNOWN : (enum phase)items->phases->runs[run].phase;
}

static void count_computed(struct retained_items *items)
{
    const struct phases *phases = items->phases;
    for (size_t i = 0; i < items->timeline->lifetime_count; i++) {
        uint32_t birth = phases->of_lifetime[i].birth;
        if (phase_of(items, birth) == PHASE_BACKWARD)
            items->sums[phases->runs[birth].pass].computed++;
    }
}

static uint8_t count_forwards(const struct retained_items *items, stack_id id)
{
    const struct symbols *symbols = site_table_symbols(items->sites);
    struct stack stack = symbols_stack_at(symbols, id);
    uint8_t count = 0;
    for (size_t i = 0; i < stack.count && count < 2; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        if (site_frame_kind(items->sites, stack.frames[i]) != FRAME_NATIVE &&
            text_equals(symbols_text(symbols, frame.name), "forward"))
            count++;
    }
    return count;
}

/* True if a graph is freed before the backward passes after the next ones, or, where a step runs
 * many as an attack does, before the optimizer steps. */
static bool is_near(const struct retained_items *items, uint32_t last, uint32_t end)
{
    const struct phase_run *runs = items->phases->runs;
    return runs[end].pass <= runs[last].pass + 1 || runs[end].updates == runs[last].updates;
}

/* True if a graph is freed after the last backward pass of its iteration, and before that of the
 * next one is over: there, the code that made it sets its variables again. An iteration may have
 * several passes, as where a penalty takes gradients of gradients. Another optimizer may step in
 * between, as that of a GAN's generator in every fifth iteration: then *is_late, and the graph
 * counts only if those of other iterations are freed in time. */
static bool is_set_again(const struct retained_items *items, uint32_t pass, uint32_t end,
                         bool *is_late)
{
    const struct phase_run *runs = items->phases->runs;
    struct backward_sums all = sums_until_update(items->sums, items->passes, runs, pass);
    *is_late = runs[end].updates > runs[all.last].updates + 1;
    return end > all.last && runs[end].updates <= runs[all.last].updates + MOST_UPDATES;
}

/* Judges a tensor that is never freed, as of the last iteration: it counts if those of the same
 * code in earlier iterations do. */
static bool judge_last(struct retained_items *items, uint32_t index, struct error *err)
{
    const struct phases *phases = items->phases;
    uint32_t birth = phases->of_lifetime[index].birth;
    stack_id stack = items->timeline->trace->stack[items->timeline->lifetimes[index].alloc];
    struct backward_sums *sums = &items->sums[phases->runs[birth].pass];
    if (sums->last == NO_RUN || sums->last < birth || !items->in_time[stack])
        return true;
    sums->left += phase_of(items, birth) != PHASE_BACKWARD;
    struct retained_item item = {index, phases->runs[birth].pass, count_forwards(items, stack),
                                 true, true};
    return vec_push(items->items, items->count, items->capacity, items->budget, err, item);
}

/* What a free tells of the graph. Without C++ frames, autograd's thread has no frames at all. */
static bool read_free(const struct retained_items *items, uint32_t index, bool *releases_graph,
                      bool *releases_saved, const struct stack_facts **facts, struct error *err)
{
    const struct timeline *timeline = items->timeline;
    stack_id stack = timeline->trace->stack[lifetime_end(&timeline->lifetimes[index])];
    *facts = site_stack_facts(items->sites, stack, err);
    if (!*facts)
        return false;
    bool is_thread = symbols_stack_at(site_table_symbols(items->sites), stack).count == 0 &&
                     phase_of(items, items->phases->of_lifetime[index].end) == PHASE_BACKWARD;
    *releases_saved = (*facts)->releases_saved || is_thread;
    *releases_graph = (*facts)->releases_graph || is_thread || items->in_burst[index];
    return true;
}

/* Judges a tensor that outlives the run that made it, by the stack that frees it. */
static bool judge(struct retained_items *items, uint32_t index, struct error *err)
{
    const struct phases *phases = items->phases;
    const stack_id *stacks = items->timeline->trace->stack;
    const struct lifetime *lifetime = &items->timeline->lifetimes[index];
    struct lifetime_runs runs = phases->of_lifetime[index];
    struct backward_sums *sums = &items->sums[phases->runs[runs.birth].pass];
    if (runs.end == NO_RUN)
        return judge_last(items, index, err);
    const struct stack_facts *facts;
    bool releases_graph, releases_saved;
    if (!read_free(items, index, &releases_graph, &releases_saved, &facts, err))
        return false;
    if (sums->last == NO_RUN || sums->last < runs.birth || !releases_graph)
        return true;
    bool is_dropped = facts->site.has_backward && !facts->evaluates;
    if (!is_dropped && (phase_of(items, runs.end) == PHASE_BACKWARD || facts->site.has_backward)) {
        sums->freed += releases_saved;
        return true;
    }
    bool is_far = !is_near(items, sums->last, runs.end), is_late = false;
    if (runs.end < sums->last ||
        (is_far && !is_set_again(items, phases->runs[runs.birth].pass, runs.end, &is_late)))
        return true;
    items->in_time[stacks[lifetime->alloc]] |= !is_late;
    sums->left += phase_of(items, runs.birth) != PHASE_BACKWARD;
    struct retained_item item = {index, phases->runs[runs.birth].pass,
                                 count_forwards(items, stacks[lifetime->alloc]), is_far, is_late};
    return vec_push(items->items, items->count, items->capacity, items->budget, err, item);
}

/* True for activations, and for what a backward pass computes that is recorded itself. */
static bool may_be_saved(const struct retained_items *items, uint32_t index)
{
    uint8_t category = items->categories->of_lifetime[index];
    return category == CATEGORY_ACTIVATION ||
           (category == CATEGORY_AUTOGRAD_DETAIL &&
            phase_of(items, items->phases->of_lifetime[index].birth) == PHASE_BACKWARD);
}

static bool may_be_retained(const struct retained_items *items, uint32_t index)
{
    return may_be_saved(items, index) && (!items->is_dropped || !items->is_dropped[index]);
}

static bool find_bursts(struct retained_items *items, struct error *err)
{
    const struct phases *phases = items->phases;
    struct graph_bursts bursts;
    if (!graph_bursts_open(&bursts, items->timeline, phases, err))
        return false;
    bool ok = true;
    bursts.any_share = true; /* a recorded backward pass makes much that its graph does not hold */
    for (size_t n = 0; ok && n < phases->outliving_count; n++)
        ok = !may_be_retained(items, phases->outliving[n]) ||
             graph_bursts_add(&bursts, items->sites, phases->outliving[n], err);
    if (ok)
        graph_bursts_flag(&bursts, items->in_burst);
    graph_bursts_close(&bursts);
    return ok;
}

static bool judge_all(struct retained_items *items, struct error *err)
{
    const struct phases *phases = items->phases;
    for (size_t n = 0; n < phases->outliving_count; n++)
        if (may_be_retained(items, phases->outliving[n]) &&
            !judge(items, phases->outliving[n], err))
            return false;
    return true;
}

/* What the backward passes do that may go through the graph of a tensor. */
static struct backward_sums sums_of(const struct retained_items *items,
                                    const struct retained_item *item)
{
    return item->is_far
               ? sums_until_update(items->sums, items->passes, items->phases->runs, item->pass)
               : items->sums[item->pass];
}

static bool all_is_left(const struct backward_sums *sums)
{
    return sums->freed == 0 && sums->computed >= sums->left * COMPUTED;
}

/* True if a later pass goes through no graph but its own: it computes no more than an earlier one
 * whose forward pass left as much. Or it frees what its forward pass saved, and so would have freed
 * the graph of the earlier one. */
static bool is_on_its_own(const struct backward_sums *earlier, const struct backward_sums *later)
{
    return later->freed > 0 || (later->computed * SIMILAR <= earlier->computed &&
                                later->left >= earlier->left * SIMILAR);
}

/* The last of the backward passes of a tensor's step that may go through its graph, if other passes
 * are of other graphs, as the training pass that follows an attack on its input. */
static uint32_t last_pass_through(const struct retained_items *items,
                                  const struct retained_item *item)
{
    const struct phase_run *runs = items->phases->runs;
    const struct backward_sums *own = &items->sums[item->pass];
    uint32_t last = item->pass;
    for (uint32_t pass = item->pass + 1;
         pass < items->passes && pass - item->pass <= MOST_IN_ITERATION; pass++) {
        const struct backward_sums *sums = &items->sums[pass];
        if (sums->last == NO_RUN || runs[sums->last].updates != runs[own->last].updates)
            break;
        if (!is_on_its_own(own, sums))
            last = pass;
    }
    return last;
}

uint32_t retained_items_last_run(const struct retained_items *items,
                                 const struct retained_item *item)
{
    struct backward_sums sums = sums_of(items, item);
    uint32_t alloc = items->timeline->lifetimes[item->lifetime].alloc;
    if (item->is_late && !items->in_time[items->timeline->trace->stack[alloc]])
        return NO_RUN;
    if (all_is_left(&sums))
        return sums.last;
    if (!all_is_left(&items->sums[item->pass]))
        return NO_RUN;
    const struct backward_sums *through = &items->sums[last_pass_through(items, item)];
    return through->computed >= items->sums[item->pass].left * COMPUTED ? through->last : NO_RUN;
}

bool retained_items_find(struct retained_items *items, struct error *err)
{
    if (!make_room(items, err))
        return false;
    count_computed(items);
    return find_bursts(items, err) && judge_all(items, err);
}

void retained_items_release(struct retained_items *items)
{
    vec_free(items->sums, items->sums_capacity, sizeof(*items->sums), items->budget);
    vec_free(items->in_burst, items->burst_capacity, 1, items->budget);
    vec_free(items->in_time, items->time_capacity, 1, items->budget);
    vec_free(items->items, items->capacity, sizeof(*items->items), items->budget);
}
