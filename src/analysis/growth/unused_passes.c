#include "analysis/growth/unused_passes.h"

#include "analysis/phase/births.h"
#include "model/curve_cursor.h"

#define KEPT_PART 10 /* of what a pass adds, 1 in this many bytes are kept for a backward pass */

struct pass {
    uint32_t first, end;  /* items; what follows the forward pass itself belongs to it */
    uint32_t forward_end; /* the end of the forward pass itself */
    uint32_t backward;    /* the first item of the next backward pass; EVENT_NEVER: none */
    bool before_backward; /* no other pass lies between it and that one */
};

struct passes {
    struct pass *items; /* in order */
    size_t count, capacity;
};

static bool is_step_phase(const struct phases *phases, size_t run)
{
    return phases->runs[run].phase > PHASE_DATA;
}

/* A pass may have several runs, by different evidence. */
static bool begins_pass(const struct phases *phases, size_t run)
{
    return phases->runs[run].phase == PHASE_FORWARD &&
           (run == 0 || phases->runs[run - 1].phase != PHASE_FORWARD);
}

static bool list(struct passes *passes, const struct timeline *timeline,
                 const struct phases *phases, struct error *err)
{
    uint32_t end = (uint32_t)timeline->trace->count, backward = EVENT_NEVER, forward_end = end;
    enum phase next = PHASE_UNKNOWN;
    for (size_t run = 0; run < phases->count; run++)
        if (begins_pass(phases, run) &&
            !vec_push(passes->items, passes->count, passes->capacity, timeline->snapshot->budget,
                      err, (struct pass){.first = phases->runs[run].first}))
            return false;
    size_t at = passes->count;
    for (size_t run = phases->count; run-- > 0;) {
        if (phases->runs[run].phase == PHASE_FORWARD &&
            (run + 1 == phases->count || phases->runs[run + 1].phase != PHASE_FORWARD))
            forward_end = phases_run_end(phases, run, timeline->trace->count);
        if (begins_pass(phases, run)) {
            struct pass *pass = &passes->items[--at];
            *pass = (struct pass){pass->first, end, forward_end, backward, next == PHASE_BACKWARD};
        } else if (phases->runs[run].phase == PHASE_BACKWARD) {
            backward = phases->runs[run].first;
        }
        if (is_step_phase(phases, run) &&
            (phases->runs[run].phase != PHASE_FORWARD || begins_pass(phases, run))) {
            end = phases->runs[run].first;
            next = (enum phase)phases->runs[run].phase;
        }
    }
    return true;
}

/* The bytes allocated in the pass that are there when the next backward pass begins; if none
 * follows, when the trace ends. */
static uint64_t kept_bytes(const struct timeline *timeline, const struct pass *pass)
{
    const struct lifetime *lifetimes = timeline->lifetimes;
    uint64_t bytes = 0;
    for (size_t i = births_from(timeline, pass->first);
         i < timeline->lifetime_count && lifetimes[i].alloc < pass->end; i++)
        if (lifetime_end(&lifetimes[i]) >= pass->backward)
            bytes += trace_size(timeline->trace, lifetimes[i].alloc);
    return bytes;
}

/* How a pass ends. */
enum end {
    END_COMPLETE,
    END_FAILED,         /* a request failed: a backward pass might have followed */
    END_FAILED_NO_GRAD, /* the same, where a decorator had turned autograd off: none would have */
};

static enum end end_of(const struct timeline *timeline, struct site_table *sites,
                       const struct pass *pass)
{
    enum end end = END_COMPLETE;
    for (uint32_t item = pass->first; timeline->by_action[ACTION_OOM] > 0 && item < pass->end;
         item++) {
        if (timeline->trace->action[item] != ACTION_OOM)
            continue;
        struct error err; /* cannot fail, because the phases have looked all stacks up */
        const struct stack_facts *facts =
            site_stack_facts(sites, timeline->trace->stack[item], &err);
        if (!facts || facts->grad_mode < GRAD_PROBABLY_OFF)
            return END_FAILED;
        end = END_FAILED_NO_GRAD;
    }
    return end;
}

/* True if an allocation is freed before anything else happens, as an operator frees its workspace,
 * and a tuner of kernels what it fills between two timings. It may be far larger than all that a
 * pass computes. */
static bool is_workspace(const struct trace *trace, size_t item)
{
    if (item + 1 >= trace->count || trace->action[item] != ACTION_ALLOC)
        return false;
    uint8_t next = trace->action[item + 1];
    return (next == ACTION_FREE_REQUESTED || next == ACTION_FREE_COMPLETED) &&
           trace_addr(trace, item + 1) == trace_addr(trace, item);
}

/* The highest values of the active curve in a pass, and in the forward pass itself. Plain code
 * after that may need far more memory than the model. */
struct rise {
    int64_t highest;
    int64_t without_workspace; /* in the forward pass itself */
};

/* Moves the cursor to the end of the pass. */
static struct rise rise_of(struct curve_cursor *cursor, const struct pass *pass)
{
    struct rise rise = {cursor->active, cursor->active};
    bool in_workspace = false; /* the item before allocated one */
    while (cursor->item < pass->end) {
        size_t item = cursor->item;
        int64_t active = curve_cursor_step(cursor);
        rise.highest = active > rise.highest ? active : rise.highest;
        bool begins_workspace = is_workspace(cursor->trace, item);
        bool counts = item < pass->forward_end && !begins_workspace && !in_workspace;
        if (counts && active > rise.without_workspace)
            rise.without_workspace = active;
        in_workspace = begins_workspace;
    }
    return rise;
}

/* Judges each pass, and finds the highest value of the curve outside of unused ones. */
static void judge(struct passes *passes, const struct timeline *timeline, struct site_table *sites,
                  struct unused_passes *unused)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    int64_t peak = cursor.active;
    uint32_t count = (uint32_t)timeline->trace->count;
    for (size_t i = 0; i <= passes->count; i++) {
        struct pass none = {.first = count, .end = count};
        const struct pass *pass = i < passes->count ? &passes->items[i] : &none;
        while (cursor.item < pass->first) {
            int64_t active = curve_cursor_step(&cursor);
            peak = active > peak ? active : peak;
        }
        if (i == passes->count)
            break;
        int64_t before = cursor.active;
        struct rise rise = rise_of(&cursor, pass);
        enum end end = end_of(timeline, sites, pass);
        uint64_t most = (uint64_t)(rise.without_workspace - before) / KEPT_PART;
        bool is_unused = rise.highest > before && !pass->before_backward && end != END_FAILED &&
                         (end == END_FAILED_NO_GRAD || kept_bytes(timeline, pass) <= most);
        unused->count += is_unused;
        unused->at_peak =
            unused->at_peak || (is_unused && timeline->active.peak_event >= (int64_t)pass->first &&
                                timeline->active.peak_event < (int64_t)pass->end);
        peak = !is_unused && rise.highest > peak ? rise.highest : peak;
    }
    unused->peak_elsewhere_bytes = peak;
}

bool unused_passes_find(struct unused_passes *unused, const struct timeline *timeline,
                        struct site_table *sites, const struct phases *phases, struct error *err)
{
    struct passes passes = {0};
    *unused = (struct unused_passes){.peak_elsewhere_bytes = timeline->active.peak_bytes};
    if (!phases_have(phases, PHASE_BACKWARD))
        return true;
    bool ok = list(&passes, timeline, phases, err);
    if (ok)
        judge(&passes, timeline, sites, unused);
    vec_free(passes.items, passes.capacity, sizeof(*passes.items), timeline->snapshot->budget);
    return ok;
}
