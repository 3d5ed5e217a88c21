#include "analysis/report/findings_internal.h"
#include "analysis/report/repeated_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/phase/births.h"
#include "analysis/pool/given_back.h"
#include "analysis/replay/figure.h"

/* In percent of the peak: smaller findings are left out. */
#define LEAST_STATE         15
#define LEAST_FRAGMENTATION 5
#define LEAST_GIVEN_BACK    10

/* Times the parameters. Gradients in single precision, of parameters in half precision and of their
 * master copies, are 3 times as large. */
#define MOST_TIMES 8

#define LEAST_CALLS                                                                                \
    2 /* of empty_cache(): one, as between two stages of a program, costs little time */

static const char *const names[] = {
    [FINDING_ACTIVATIONS] = "activations",
    [FINDING_NO_GRAD] = "no_grad",
    [FINDING_ATTENTION] = "attention",
    [FINDING_LOGITS] = "logits",
    [FINDING_CASTS] = "casts",
    [FINDING_OPTIMIZER_TEMPORARIES] = "optimizer_temporaries",
    [FINDING_OPTIMIZER_STATE] = "optimizer_state",
    [FINDING_REPEATED_STATE] = "repeated_state",
    [FINDING_GRADIENTS] = "gradients",
    [FINDING_KEPT_GRADIENTS] = "kept_gradients",
    [FINDING_KEPT_RESULTS] = "kept_results",
    [FINDING_GROWTH] = "growth",
    [FINDING_FRAGMENTATION] = "fragmentation",
    [FINDING_PENDING_FREES] = "pending_frees",
    [FINDING_EMPTY_CACHE] = "empty_cache",
};

const char *finding_kind_name(enum finding_kind kind)
{
    return names[kind];
}

const char *finding_bound(const struct finding *finding)
{
    return finding->at_most ? "up to " : finding->at_least ? "at least " : "";
}

static bool about_kept_gradients(struct findings_maker *maker)
{
    const struct stale_gradients *stale = &maker->evidence->growth->gradients;
    if (finding_share(maker, stale->save_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_KEPT_GRADIENTS, .save_bytes = stale->save_bytes},
        "Call optimizer.zero_grad(set_to_none=True) before the forward pass.",
        "%llu gradients (%s) stay allocated during the next forward pass.",
        (unsigned long long)stale->count, finding_size(maker, stale->bytes).text);
}

#define CAPTURE_ONCE                                                                               \
    "Most of it lies in the pools of CUDA graphs: a graph is captured at every step and kept. "    \
    "Capture once for each shape, write new inputs into the tensors of the capture, and replay."
#define SHARE_POOL                                                                                 \
    "Graphs that never run at once can share a pool (torch.cuda.graph(..., pool=first.pool()))."

/* Advice about growth, and the words in front of the line of code that it names. */
struct growth_words {
    const char *where, *next;
};

static struct growth_words words_of_growth(const struct growth *growth)
{
    bool has_loss = growth->scalar_row != NO_ROW;
    struct growth_words words = {
        "the largest part at",
        "Find what still refers to this memory: a list, a cache, a hook, a closure, a stored "
        "exception or a reference cycle.",
    };
    if (growth->pools.kind == PRIVATE_CAPTURES) {
        words.next = growth->pools.has_many_pools ? CAPTURE_ONCE " " SHARE_POOL : CAPTURE_ONCE;
    } else if (growth->pools.kind == PRIVATE_OWN) {
        words.next = "Most of it lies in a private pool that the program made (torch.cuda.MemPool "
                     "or graph_pool_handle()): find what stores these tensors.";
    } else if (growth->graph == GRAPH_KEPT && growth->has_variables) {
        words.where = "with the autograd graphs that end at";
        words.next = "Not only the loss stays, but the variables of that code: find the stored "
                     "exception (its traceback refers to them), closure, generator or reference "
                     "cycle that keeps them.";
    } else if (growth->graph == GRAPH_KEPT) {
        words.where = has_loss ? "probably because a loss is stored with its autograd graph at"
                               : "probably because a tensor is stored with its autograd graph at";
        words.next = has_loss ? "Store loss.item() or loss.detach() there: a stored loss keeps its "
                                "autograd graph alive."
                              : "Store tensor.detach() there, or compute it under "
                                "torch.no_grad().";
    } else if (growth->graph == GRAPH_NONE) {
        words.next = "No autograd graph keeps it, so loss.item() changes nothing: find the list, "
                     "cache, hook or closure that stores these tensors, and move them to the host "
                     "(tensor.cpu()) or keep less of them.";
    } else if (growth->rows[growth_holder(growth)].stack == STACK_NONE) {
        words.next = "Record with stacks=\"python\" to see the code that keeps it.";
    }
    return words;
}

static bool about_growth(struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    if (finding_share(maker, growth->save_bytes) < LEAST_SHARE || growth->row_count == 0 ||
        growth->pools.kind == PRIVATE_SHAPES)
        return true;
    const struct growth_row *row = &growth->rows[growth_holder(growth)];
    struct growth_words words = words_of_growth(growth);
    bool has_stack = row->stack != STACK_NONE;
    return finding_add(maker,
                       (struct finding){.kind = FINDING_GROWTH,
                                        .save_bytes = growth->save_bytes,
                                        .at_least = true},
                       words.next, "Memory grows by %s a step%s%s %s.",
                       finding_size(maker, growth->bytes_per_step).text, has_stack ? ", " : "",
                       has_stack ? words.where : "; its allocations were recorded",
                       has_stack ? row->label.full : "without stacks");
}

static int64_t private_bytes(const struct pool_rows *pools)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pools->count; i++)
        if (pool_key_is_private(&pools->items[i].key))
            sum += pools->items[i].reserved_bytes;
    return (int64_t)sum;
}

/* The least that expandable segments would reserve: each pool's blocks at the peak, in whole pages.
 * CUDA graphs keep the memory of their pools, in whatever segments, also if captured later. */
static int64_t needed(const struct fragmentation *fragmentation)
{
    const struct pool_rows *pools = &fragmentation->moment.pools;
    int64_t then = private_bytes(pools), later = private_bytes(&fragmentation->dump.pools);
    uint64_t sum = 0;
    for (size_t i = 0; i < pools->count; i++)
        if (!pool_key_is_private(&pools->items[i].key))
            sum += allocator_round_up(pools->items[i].active_bytes,
                                      allocator_page(pools->items[i].key.is_small));
    return (int64_t)sum + (later > then ? later : then);
}

#define EXPANDABLE "expandable_segments:True"

/* A replay of the trace replaces the bound, where it can be trusted. */
static bool replayed_fragmentation(struct findings_maker *maker, const struct replay_figure *figure)
{
    int64_t save = (int64_t)(figure->recorded_bytes - figure->replayed_bytes);
    char next[600];
    if (save <= 0 || finding_share(maker, save) < LEAST_FRAGMENTATION)
        return true;
    snprintf(next, sizeof(next),
             "Set PYTORCH_CUDA_ALLOC_CONF=" EXPANDABLE ": replayed with it, the trace reserves %s "
             "instead of %s%s. 'memsnap replay' compares other settings.",
             finding_size(maker, (int64_t)figure->replayed_bytes).text,
             finding_size(maker, (int64_t)figure->recorded_bytes).text,
             figure->ran_out && figure->fits ? ", and the requests that ran out of memory fit"
                                             : "");
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_FRAGMENTATION, .save_bytes = save, .of_reserved = true},
        next, "Reserved memory reaches %s, and part of it cannot be used.",
        finding_size(maker, (int64_t)figure->recorded_bytes).text);
}

/* Reports on expandable segments, the setting whose saving bounds those of the others: at the peak,
 * no layout of segments can be smaller than the blocks in use. The dump shows only the holes. */
static bool about_fragmentation(struct findings_maker *maker)
{
    const struct fragmentation *fragmentation = maker->evidence->fragmentation;
    const struct live_set *set = maker->evidence->at_peak;
    bool at_peak = set && fragmentation->has_moment;
    const struct cut_up *cut = at_peak ? &fragmentation->moment : &fragmentation->dump;
    const struct advice *expandable = &cut->advice[SETTING_EXPANDABLE_SEGMENTS];
    int64_t save = (int64_t)expandable->would_save_bytes, reserved = 0, need = 0;
    if (at_peak) {
        reserved = set->timeline->reserved.peak_bytes;
        need = needed(fragmentation);
        save = reserved - need;
    }
    if (expandable->in_force ||
        finding_share(maker, save) < (at_peak ? LEAST_FRAGMENTATION : LEAST_SHARE))
        return true;
    if (at_peak) {
        struct replay_figure figure;
        if (!replay_figure_make(set->timeline, set->sites, EXPANDABLE, &figure, maker->err))
            return false;
        if (figure.is_known)
            return replayed_fragmentation(maker, &figure);
    }
    char next[600];
    snprintf(next, sizeof(next), "Set PYTORCH_CUDA_ALLOC_CONF=" EXPANDABLE ": %s.",
             expandable->why);
    struct finding finding = {
        .kind = FINDING_FRAGMENTATION, .save_bytes = save, .at_most = true, .of_reserved = true};
    if (!at_peak)
        return finding_add(
            maker, finding, next, "In the snapshot, %s lie unused in holes between blocks in use.",
            finding_size(maker, (int64_t)cut->pools.total.inactive_split_bytes).text);
    return finding_add(maker, finding, next,
                       timeline_knows_peak(set->timeline)
                           ? "Reserved memory reaches %s; at the peak, blocks in use need %s."
                           : "Reserved memory is %s; blocks in use need %s.",
                       finding_size(maker, reserved).text, finding_size(maker, need).text);
}

/* Reports on memory that empty_cache() released for nothing, which costs time. */
static bool about_empty_cache(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    struct given_back given;
    if (!given_back_find(&given, set->timeline, set->sites, maker->err))
        return false;
    if (given.calls < LEAST_CALLS || finding_share(maker, given.again_bytes) < LEAST_GIVEN_BACK)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_EMPTY_CACHE},
        "Remove the calls: the allocator keeps freed memory for the next requests, and releases it "
        "itself before it runs out. They help only if another process, or the other stream or "
        "pool, needs the memory in between.",
        "torch.cuda.empty_cache() gave back %s in %llu call%s, and %s were asked for again, by "
        "%llu cudaMallocs.",
        finding_size(maker, given.bytes).text, (unsigned long long)given.calls,
        given.calls == 1 ? "" : "s", finding_size(maker, given.again_bytes).text,
        (unsigned long long)given.mallocs);
}

static bool about_pending(struct findings_maker *maker)
{
    const struct pending_frees *pending = maker->evidence->pending;
    if (finding_share(maker, pending->at_peak_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_PENDING_FREES, .save_bytes = pending->at_peak_bytes, .at_most = true},
        "Another stream also uses these tensors (Tensor.record_stream), or a CUDA graph was being "
        "captured. Instead of record_stream, keep a reference until the tensor's own stream waits "
        "for the other one (Stream.wait_stream), or keep fewer of them in flight.",
        "At the peak, the program had already freed %s that still wait for another stream%s%s.",
        finding_size(maker, pending->at_peak_bytes).text,
        pending->row_count ? ", the largest part at " : "",
        pending->row_count ? pending->rows[0].label.full : "");
}

static int64_t live_bytes(const struct live_set *set, enum category category)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (live_category(set, &set->items[i]) == category)
            bytes += (int64_t)set->items[i].size;
    return bytes;
}

/* What a step adds to lists of its own, as a scheduler may: an optimizer has its states from the
 * first step on, and they do not grow. */
static int64_t growing_state(const struct growth *growth)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < growth->row_count; i++)
        if (growth->rows[i].fit.kind == GROWTH_GROWING &&
            growth->rows[i].category == CATEGORY_OPTIMIZER_STATE)
            bytes += growth->rows[i].save_bytes + growth->rows[i].fit.bytes_per_step;
    return bytes;
}

static bool about_repeated_state(struct findings_maker *maker)
{
    struct repeated_state repeated;
    char first[UNITS_TEXT_SIZE], second[UNITS_TEXT_SIZE];
    if (!repeated_state_find(&repeated, maker->evidence->at_peak, maker->evidence->phases,
                             maker->err))
        return false;
    if (finding_share(maker, repeated.bytes) < LEAST_STATE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_REPEATED_STATE, .save_bytes = repeated.bytes},
        "If the first optimizer is done, delete it before the second is made, with what refers to "
        "it, such as a scheduler; or go on with it.",
        "Optimizer state exists twice: it was made at event %s for the same parameters again, "
        "while %s of an earlier optimizer, made from event %s on, stay allocated.",
        units_count(second, repeated.second_item), finding_size(maker, repeated.bytes).text,
        units_count(first, repeated.first_item));
}

static bool about_state(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t state =
        live_bytes(set, CATEGORY_OPTIMIZER_STATE) - growing_state(maker->evidence->growth);
    int64_t parameters = live_bytes(set, CATEGORY_PARAMETER);
    double share = finding_share(maker, state);
    char ratio[48] = "";
    if (share < LEAST_STATE)
        return true;
    if (parameters > 0)
        snprintf(ratio, sizeof(ratio), ", %.1f times the parameters",
                 (double)state / (double)parameters);
    return finding_add(
        maker, (struct finding){.kind = FINDING_OPTIMIZER_STATE, .save_bytes = state / 2},
        "Shard it (FSDP, ZeroRedundancyOptimizer): each of N ranks then keeps 1/N of it, so "
        "2 ranks save half. On a single device, an optimizer with 8-bit states saves more.",
        "Optimizer state holds %s, %.1f%% of the peak%s.", finding_size(maker, state).text, share,
        ratio);
}

/* True if an optimizer frees it from within the backward pass, in a hook of its parameter. */
static bool is_freed_in_hook(const struct live_set *set, const struct live *live)
{
    uint32_t end = live->in_trace ? lifetime_end(&set->timeline->lifetimes[live->index])
                                  : preexisting_end(&set->timeline->preexisting[live->index]);
    struct error err; /* the stack has been looked up for its category */
    const struct stack_facts *facts =
        end == EVENT_NEVER ? NULL
                           : site_stack_facts(set->sites, set->timeline->trace->stack[end], &err);
    return facts && facts->site.has_backward &&
           (facts->context == CONTEXT_OPTIMIZER || facts->context == CONTEXT_ZERO_GRAD);
}

/* Gradients that are many times as large as what an optimizer updates are not in .grad. */
static bool about_derivatives(struct findings_maker *maker, int64_t bytes, int64_t parameters)
{
    return finding_add(
        maker, (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
        "Compute them for a part of the batch at a time, and delete them (del) as soon as they are "
        "used, also before the next iteration.",
        "Gradients hold %s, %.1f%% of the peak and %.1f times the parameters: most are results of "
        "torch.autograd.grad() or torch.func.grad(), or intermediate results of a second "
        "derivative.",
        finding_size(maker, bytes).text, finding_share(maker, bytes),
        (double)bytes / (double)parameters);
}

static bool about_gradients(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    int64_t parameters = live_bytes(set, CATEGORY_PARAMETER);
    int64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++)
        if (live_category(set, &set->items[i]) == CATEGORY_GRADIENT &&
            !is_freed_in_hook(set, &set->items[i]))
            bytes += (int64_t)set->items[i].size;
    double share = finding_share(maker, bytes);
    if (share < LEAST_STATE)
        return true;
    if (parameters > 0 && bytes / MOST_TIMES > parameters)
        return about_derivatives(maker, bytes, parameters);
    return finding_add(
        maker, (struct finding){.kind = FINDING_GRADIENTS, .save_bytes = bytes, .at_most = true},
        "Run the optimizer step of each parameter in a hook "
        "(Tensor.register_post_accumulate_grad_hook), and free its gradient right after. "
        "With FSDP, each of N ranks keeps 1/N of the gradients.",
        "Gradients hold %s, %.1f%% of the peak.", finding_size(maker, bytes).text, share);
}

static bool find_at_peak(struct findings_maker *maker)
{
    return findings_of_sums(maker) && about_empty_cache(maker) && about_repeated_state(maker) &&
           about_state(maker) && about_gradients(maker);
}

/* Growth comes first: what it holds is only what the trace has seen of it so far. */
static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    bool x_grows = x->kind == FINDING_GROWTH, y_grows = y->kind == FINDING_GROWTH;
    if (x_grows != y_grows)
        return x_grows ? -1 : 1;
    if (x->save_bytes != y->save_bytes)
        return x->save_bytes > y->save_bytes ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void rank(struct findings *findings)
{
    qsort(findings->items, findings->count, sizeof(findings->items[0]), compare_findings);
    while (findings->count > FINDINGS_MOST) {
        struct finding *last = &findings->items[--findings->count];
        free(last->what);
        free(last->next);
    }
}

bool findings_make(struct findings *findings, const struct evidence_of_all *evidence,
                   struct error *err)
{
    struct findings made = {0};
    struct findings_maker maker = {evidence, &made, err};
    bool ok = about_kept_gradients(&maker) && about_growth(&maker) && about_fragmentation(&maker) &&
              about_pending(&maker);
    if (ok && evidence->at_peak)
        ok = find_at_peak(&maker);
    if (!ok) {
        findings_release(&made);
        return false;
    }
    rank(&made);
    *findings = made;
    return true;
}

void findings_release(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].what);
        free(findings->items[i].next);
    }
    *findings = (struct findings){0};
}
