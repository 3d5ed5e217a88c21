#include "analysis/growth/kept_graph.h"

#include "analysis/code/paths.h"
#include "analysis/phase/births.h"

#define LEAST_LINES  4 /* lines that grow, because a graph saves the results of many lines */
#define WORKSPACES   4 /* workspaces that one kernel may allocate */
#define COUNT_STEPS  8 /* allocations of the line that computes an accuracy, at most */
#define OVERWHELMING 4 /* tensors freed in the pass, as a multiple of those kept after it */

struct judge {
    const struct survivors *survivors;
    const struct live_set *set;
    const struct phases *phases;
    bool lacks_stacks;
    size_t lines;     /* lines that grow by activations, with autograd not known to be disabled */
    size_t lines_off; /* the same with autograd known to be disabled */
    bool only_graph_keeps; /* something grows to which the program cannot refer itself */
    bool drops_graph;      /* something grows that belongs to a graph without a backward pass */
    bool has_small;        /* something grows by a few bytes, such as a loss */
    size_t passed_on,
        kept; /* tensors of the passes whose results grow: freed in the pass, and kept after it */
};

static const struct lifetime *latest_of(const struct survivors *survivors,
                                        const struct timeline *timeline, size_t group,
                                        uint32_t *index)
{
    const struct lifetime *latest = NULL;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        const struct lifetime *lifetime = &timeline->lifetimes[live->index];
        if (!live->in_trace || (latest && lifetime->alloc <= latest->alloc))
            continue;
        latest = lifetime;
        *index = live->index;
    }
    return latest;
}

int64_t kept_graph_last_item(const struct survivors *survivors, const struct timeline *timeline,
                             size_t group)
{
    uint32_t index;
    const struct lifetime *latest = latest_of(survivors, timeline, group, &index);
    return latest ? (int64_t)latest->alloc : -1;
}

/* Whether an operator has a gradient, as far as sums of its results tell. */
enum descent { DESCENT_PASSES, DESCENT_NONE, DESCENT_OTHER };

static enum descent descent_of(struct text op)
{
    static const char *const without[] = {
        "aten::eq", "aten::ne",      "aten::lt",          "aten::le",     "aten::gt",
        "aten::ge", "aten::isclose", "aten::logical_and", "aten::argmax", "aten::argmin"};
    static const char *const passing[] = {"aten::_to_copy", "aten::mean", "aten::sum", "aten::div",
                                          "aten::mul"};
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++)
        if (text_equals(op, without[i]))
            return DESCENT_NONE;
    for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
        if (text_equals(op, passing[i]))
            return DESCENT_PASSES;
    return DESCENT_OTHER;
}

bool kept_graph_is_count(const struct survivors *survivors, const struct live_set *set,
                         size_t group, bool *is_count, struct error *err)
{
    const struct timeline *timeline = set->timeline;
    struct symbols *symbols = site_table_symbols(set->sites);
    uint32_t last, line = NO_FRAME;
    *is_count = false;
    if (!latest_of(survivors, timeline, group, &last))
        return true;
    for (uint32_t steps = 0; steps <= last && steps < COUNT_STEPS; steps++) {
        uint32_t alloc = timeline->lifetimes[last - steps].alloc;
        stack_id stack = timeline->trace->stack[alloc];
        const struct stack_facts *facts = site_stack_facts(set->sites, stack, err);
        if (!facts)
            return false;
        if (facts->site.user_frame == NO_FRAME)
            return true;
        frame_id frame = symbols_stack_at(symbols, stack).frames[facts->site.user_frame];
        enum descent descent = descent_of(symbols_text(symbols, facts->site.op));
        if (steps > 0 && frame != line)
            return true;
        line = frame;
        *is_count = descent == DESCENT_NONE;
        if (descent != DESCENT_PASSES)
            return true;
    }
    return true;
}

static bool has_frame(const struct symbols *symbols, stack_id id, const char *prefix)
{
    struct stack stack = symbols_stack_at(symbols, id);
    for (size_t i = 0; i < stack.count; i++)
        if (text_starts(symbols_text(symbols, symbols_frame_at(symbols, stack.frames[i]).name),
                        prefix))
            return true;
    return false;
}

/* True if a tensor is made inside of a loss. cross_entropy keeps its logarithms for the backward
 * pass and returns only the loss. */
static bool is_inside_loss(const struct symbols *symbols, stack_id stack, string_id op)
{
    return text_equals(symbols_text(symbols, op), "aten::_log_softmax") &&
           has_frame(symbols, stack, "at::_ops::cross_entropy_loss::");
}

/* Counts what the forward pass that made a lifetime freed itself, and what it kept. */
static void count_pass(struct judge *judge, uint32_t item)
{
    const struct timeline *timeline = judge->set->timeline;
    uint32_t run = phases_run_of(judge->phases, item);
    if (run == NO_RUN || judge->phases->runs[run].phase != PHASE_FORWARD)
        return;
    uint32_t end = phases_run_end(judge->phases, run, timeline->trace->count);
    for (size_t i = births_from(timeline, judge->phases->runs[run].first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        if (judge->set->categories->of_lifetime[i] != CATEGORY_ACTIVATION)
            continue;
        bool stays = lifetime_end(&timeline->lifetimes[i]) >= end;
        judge->kept += stays;
        judge->passed_on += !stays;
    }
}

static bool look_at(struct judge *judge, size_t group, bool is_small, struct error *err)
{
    const struct site_group *of = &judge->survivors->groups.items[group];
    const struct symbols *symbols = site_table_symbols(judge->set->sites);
    stack_id stack = of->source.own;
    uint32_t index = 0;
    const struct stack_facts *facts = site_stack_facts(judge->set->sites, stack, err);
    if (!facts)
        return false;
    bool is_off = facts->grad_mode >= GRAD_PROBABLY_OFF;
    const struct lifetime *latest =
        latest_of(judge->survivors, judge->set->timeline, group, &index);
    bool is_dropped =
        latest && reason_of(judge->set->categories->why_lifetime[index]) == REASON_GRAPH_DROPPED;
    if (!is_off && is_inside_loss(symbols, stack, of->source.site.op))
        judge->only_graph_keeps = true;
    judge->drops_graph = judge->drops_graph || (!is_off && is_dropped);
    judge->has_small = judge->has_small || is_small;
    judge->lacks_stacks = judge->lacks_stacks || stack == STACK_NONE;
    if (is_small || of->category != CATEGORY_ACTIVATION)
        return true;
    judge->lines += !is_off;
    judge->lines_off += is_off;
    if (latest && judge->lines + judge->lines_off == 1)
        count_pass(judge, latest->alloc);
    return true;
}

/* The last tensor that was made before lifetimes[index] and is live then, or NULL. The kernel that
 * made it may have allocated workspaces after it. */
static const struct lifetime *made_before(const struct timeline *timeline, uint32_t index)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    for (uint32_t i = index; i > 0 && index - i < WORKSPACES; i--)
        if (lifetime_end(&lifetimes[i - 1]) > lifetimes[index].alloc)
            return &lifetimes[i - 1];
    return NULL;
}

/* True if most logits stay as well. cross_entropy keeps the logarithms that it computes from the
 * logits but not the logits, so then more than the graph is kept. */
static bool keeps_logits(const struct survivors *survivors, const struct timeline *timeline,
                         size_t group)
{
    size_t count = 0, kept = 0;
    for (uint32_t at = survivors->begins[group]; at < survivors->begins[group + 1]; at++) {
        const struct live *live = &survivors->items[survivors->order[at]];
        if (!live->in_trace)
            continue;
        const struct lifetime *result = &timeline->lifetimes[live->index];
        const struct lifetime *logits = made_before(timeline, live->index);
        count++;
        kept += logits && lifetime_end(logits) >= lifetime_end(result) &&
                trace_size(timeline->trace, logits->alloc) ==
                    trace_size(timeline->trace, result->alloc);
    }
    return kept * 2 > count;
}

bool kept_graph_has_variables(const struct survivors *survivors, const struct live_set *set,
                              const uint32_t *growing, size_t count)
{
    const struct symbols *symbols = site_table_symbols(set->sites);
    for (size_t i = 0; i < count; i++) {
        struct text op = symbols_text(symbols, survivors->groups.items[growing[i]].source.site.op);
        if (text_equals(op, "aten::_log_softmax") &&
            keeps_logits(survivors, set->timeline, growing[i]))
            return true;
    }
    return false;
}

bool kept_graph_judge(const struct survivors *survivors, const struct live_set *set,
                      const struct phases *phases, const uint32_t *growing, const bool *small,
                      size_t count, enum growth_graph *graph, struct error *err)
{
    struct judge judge = {.survivors = survivors, .set = set, .phases = phases};
    for (size_t i = 0; i < count; i++)
        if (!look_at(&judge, growing[i], small[i], err))
            return false;
    bool frees_most =
        judge.passed_on >= LEAST_LINES && judge.passed_on / OVERWHELMING >= judge.kept;
    /* what grows alone may be the results themselves, which the program stores */
    bool has_others = judge.lines + judge.lines_off > 1 || judge.has_small;
    *graph = GRAPH_UNCLEAR;
    if (judge.only_graph_keeps || (judge.drops_graph && has_others))
        *graph = GRAPH_KEPT;
    else if (judge.lacks_stacks)
        *graph = GRAPH_UNCLEAR;
    else if ((judge.lines == 0 && judge.lines_off > 0) || frees_most)
        *graph = GRAPH_NONE;
    else if (judge.lines >= LEAST_LINES)
        *graph = GRAPH_KEPT;
    return true;
}
