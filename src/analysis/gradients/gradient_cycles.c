#include "analysis/gradients/gradient_cycles.h"

#include "analysis/phase/births.h"
#include "analysis/phase/step_marks.h"
#include "base/bisect.h"

/* The end of the last annotated optimizer step that ends before `item`; 0 if there is none. */
static uint32_t annotated_end(const struct step_marks *marks, size_t *next, uint32_t item)
{
    while (*next < marks->count && marks->items[*next].end <= item)
        (*next)++;
    return *next > 0 ? marks->items[*next - 1].end : 0;
}

/* Extends the forward pass of `cycle` by a run, up to the run's last allocation. Without stacks,
 * what zero_grad() frees right before the backward pass looks like part of the run. */
static void extend_forward(struct cycle *cycle, const struct timeline *timeline, uint32_t begin,
                           uint32_t end, bool is_new)
{
    size_t births = births_from(timeline, end);
    uint32_t last = births > 0 ? timeline->lifetimes[births - 1].alloc : 0;
    if (is_new)
        cycle->forward = begin;
    if (births > 0 && last >= begin)
        cycle->forward_end = last + 1;
    else if (is_new)
        cycle->forward_end = end;
}

/* Extends the backward passes of `cycle` by a run that ends at `end`. */
static void extend_backward(struct cycle *cycle, uint32_t end, bool forward_again)
{
    if (cycle->pass_end == cycle->end && !forward_again)
        cycle->pass_end = end;
    cycle->end = end;
}

/* True if an optimizer step is certain. One that only lifetimes suggest may be anything between two
 * backward passes whose gradients accumulate. */
static bool is_sure_step(const struct phase_run *run)
{
    return run->phase == PHASE_OPTIMIZER &&
           (run->evidence == PHASE_BY_STACK || run->evidence == PHASE_BY_ANNOTATION);
}

static bool add_cycle(struct cycles *cycles, const struct timeline *timeline, struct cycle cycle,
                      struct error *err)
{
    size_t first = births_from(timeline, cycle.forward);
    size_t count = births_from(timeline, cycle.forward_end) - first;
    cycle.forward_most =
        count > 0 ? timeline->lifetimes[first + (count - 1) / 2].alloc + 1 : cycle.forward_end;
    return vec_push(cycles->items, cycles->count, cycles->capacity, cycles->budget, err, cycle);
}

/* A block that a backward pass has left and that is freed later. */
struct left {
    uint32_t end; /* item */
    uint64_t size;
};

/* What is known at a run of the trace. */
struct search {
    struct cycle open;
    bool in_forward;
    bool waits;         /* there was no forward pass since the optimizer step */
    bool forward_again; /* there was a forward pass since the last backward pass */
    bool unseen;        /* no optimizer step was seen between the last backward pass and `open` */
    struct left *left;  /* by the last cycle's backward passes: a heap, the earliest end first */
    size_t left_count, left_capacity;
    double left_bytes;     /* of these, and of what they leave for good */
    struct budget *budget; /* not owned */
};

static void swap_left(struct search *search, size_t a, size_t b)
{
    struct left kept = search->left[a];
    search->left[a] = search->left[b];
    search->left[b] = kept;
}

static bool push_left(struct search *search, struct left left, struct error *err)
{
    size_t at = search->left_count;
    if (!vec_push(search->left, search->left_count, search->left_capacity, search->budget, err,
                  left))
        return false;
    for (; at > 0 && search->left[at].end < search->left[(at - 1) / 2].end; at = (at - 1) / 2)
        swap_left(search, at, (at - 1) / 2);
    return true;
}

static void pop_left(struct search *search)
{
    size_t at = 0, least = 0;
    search->left[0] = search->left[--search->left_count];
    do {
        at = least;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < search->left_count; child++)
            if (search->left[child].end < search->left[least].end)
                least = child;
        swap_left(search, at, least);
    } while (least != at);
}

/* The bytes of what is freed before an item. They do not count as left any longer. */
static double take_freed(struct search *search, uint32_t until)
{
    double bytes = 0;
    for (; search->left_count > 0 && search->left[0].end < until; pop_left(search))
        bytes += (double)search->left[0].size;
    search->left_bytes -= bytes;
    return bytes;
}

static bool list_left(struct search *search, const struct timeline *timeline, uint32_t begin,
                      uint32_t end, struct error *err)
{
    for (size_t i = births_from(timeline, begin);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < end; i++) {
        struct left left = {lifetime_end(&timeline->lifetimes[i]),
                            trace_size(timeline->trace, timeline->lifetimes[i].alloc)};
        if (left.end < end)
            continue;
        search->left_bytes += (double)left.size;
        if (left.end != EVENT_NEVER && !push_left(search, left, err))
            return false;
    }
    return true;
}

/* True if most of the memory that backward passes had left to the forward pass of `open` is freed
 * before the backward pass allocates anything. Gradients that accumulate stay, so zero_grad()
 * freed these, and an optimizer that allocates nothing had used them. */
static bool is_zeroed(struct search *search, const struct timeline *timeline, uint32_t backward)
{
    size_t next = births_from(timeline, backward);
    uint32_t used_again = next < timeline->lifetime_count ? timeline->lifetimes[next].alloc
                                                          : (uint32_t)timeline->trace->count;
    take_freed(search, search->open.forward);
    double left = search->left_bytes, freed = take_freed(search, used_again);
    return freed > 0 && 2 * freed >= left;
}

static void visit_forward(struct search *search, const struct timeline *timeline, uint32_t begin,
                          uint32_t end)
{
    search->unseen = search->unseen || (!search->waits && !search->in_forward);
    if (search->unseen && !search->in_forward)
        search->open = (struct cycle){.used = begin};
    extend_forward(&search->open, timeline, begin, end, !search->in_forward);
    search->waits = false;
    search->in_forward = true;
    search->forward_again = true;
}

static bool visit_backward(struct search *search, struct cycles *cycles,
                           const struct timeline *timeline, uint32_t begin, uint32_t end,
                           struct error *err)
{
    bool is_new = search->in_forward && (!search->unseen || is_zeroed(search, timeline, begin));
    /* If the trace begins in this cycle, its gradients may be meant to accumulate. */
    bool is_first = !is_new && search->waits;
    if (is_new) {
        search->open.backward = begin;
        search->open.end = search->open.pass_end = end;
        if (!add_cycle(cycles, timeline, search->open, err))
            return false;
    } else if (!is_first && cycles->count > 0) {
        extend_backward(&cycles->items[cycles->count - 1], end, search->forward_again);
    }
    if (is_new || is_first) {
        search->left_count = 0;
        search->left_bytes = 0;
    }
    search->in_forward = search->waits = search->forward_again = search->unseen = false;
    return list_left(search, timeline, begin, end, err);
}

static bool find(struct cycles *cycles, struct search *search, const struct timeline *timeline,
                 const struct phases *phases, const struct step_marks *steps, struct error *err)
{
    size_t next = 0;
    uint32_t taken = 0; /* annotated steps that end at or before this item are done */
    for (size_t run = 0; run < phases->count; run++) {
        uint32_t begin = phases->runs[run].first;
        uint32_t end = phases_run_end(phases, run, timeline->trace->count);
        uint32_t annotated = annotated_end(steps, &next, begin);
        enum phase phase = (enum phase)phases->runs[run].phase;
        bool stepped =
            annotated > taken && (!search->in_forward || annotated > search->open.forward_end);
        taken = annotated;
        bool is_step = is_sure_step(&phases->runs[run]);
        if (stepped || is_step) {
            search->open = (struct cycle){.used = is_step ? end : annotated};
            search->waits = true;
            search->in_forward = search->unseen = false;
        }
        if (phase == PHASE_FORWARD)
            visit_forward(search, timeline, begin, end);
        else if (phase == PHASE_BACKWARD &&
                 !visit_backward(search, cycles, timeline, begin, end, err))
            return false;
    }
    return true;
}

static bool runs_out(const struct trace *trace, uint32_t first)
{
    for (uint32_t item = (uint32_t)trace->count; item-- > first;)
        if (trace->action[item] == ACTION_OOM)
            return true;
    return false;
}

/* Adds the cycle that memory ran out in, before its backward pass. */
static bool add_failed(struct search *search, struct cycles *cycles,
                       const struct timeline *timeline, struct error *err)
{
    uint32_t end = (uint32_t)timeline->trace->count;
    if (!search->in_forward || search->unseen || search->open.first ||
        !runs_out(timeline->trace, search->open.forward))
        return true;
    search->open.backward = search->open.end = search->open.pass_end = end;
    return add_cycle(cycles, timeline, search->open, err);
}

bool cycles_find(struct cycles *cycles, const struct timeline *timeline,
                 const struct phases *phases, bool with_failed, struct error *err)
{
    struct cycles made = {.budget = timeline->snapshot->budget};
    struct step_marks steps = {0};
    struct search search = {.open = {.first = true}, .waits = true, .budget = made.budget};
    bool ok = step_marks_find(&steps, timeline, "Optimizer.step#", false, err) &&
              find(&made, &search, timeline, phases, &steps, err) &&
              (!with_failed || add_failed(&search, &made, timeline, err));
    vec_free(search.left, search.left_capacity, sizeof(*search.left), search.budget);
    step_marks_release(&steps);
    if (!ok) {
        cycles_release(&made);
        return false;
    }
    *cycles = made;
    return true;
}

void cycles_release(struct cycles *cycles)
{
    vec_free(cycles->items, cycles->capacity, sizeof(*cycles->items), cycles->budget);
    *cycles = (struct cycles){0};
}

size_t cycles_from(const struct cycles *cycles, uint32_t item)
{
    const struct cycle *items = cycles->items;
    return items ? bisect_until(&items->used, sizeof(*items), cycles->count, item) : 0;
}

size_t cycles_until(const struct cycles *cycles, uint32_t item)
{
    const struct cycle *items = cycles->items;
    return items ? bisect_until(&items->forward_most, sizeof(*items), cycles->count, item) : 0;
}
