/* Findings on memory that grows, or waits, from step to step. */
#include "analysis/findings/findings_internal.h"
#include "model/sums.h"

bool finding_of_kept_gradients(struct findings_maker *maker)
{
    const struct stale_gradients *stale = &maker->evidence->growth->gradients;
    if (finding_share(maker, stale->save_bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_KEPT_GRADIENTS, .save_bytes = stale->save_bytes},
        stale->other_calls
            ? "Add a call of optimizer.zero_grad(set_to_none=True) right after optimizer.step(), "
              "and keep those that the program has. If it is there, a variable still refers to "
              "them, such as the result of torch.autograd.grad(): delete it."
            : "Call optimizer.zero_grad(set_to_none=True) right after optimizer.step(). If the "
              "program does, a variable still refers to them, such as the result of "
              "torch.autograd.grad(): delete it.",
        "%llu gradient%s (%s) stay%s allocated during the next forward pass.",
        (unsigned long long)stale->count, stale->count == 1 ? "" : "s",
        finding_size(maker, stale->bytes).text, stale->count == 1 ? "s" : "");
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

#define SUM_LESS                                                                                   \
    "If one backward pass is to follow for all of them, call backward() on the loss of each "      \
    "batch "                                                                                       \
    "as soon as it is computed. Otherwise, "

/* Advice for stored graphs. If the trace has no backward pass, one may still follow. */
static const char *next_of_graphs(bool has_loss, bool trains)
{
    if (has_loss)
        return trains ? "Store loss.item() or loss.detach() there: a stored loss keeps its "
                        "autograd graph alive."
                      : SUM_LESS "store loss.item() or loss.detach() there: a stored loss keeps "
                                 "its autograd graph alive.";
    return trains ? "Store tensor.detach() instead, pass tensor.detach() on to the next step, or "
                    "compute it under torch.no_grad()."
                  : SUM_LESS "store tensor.detach() instead, or compute it under torch.no_grad().";
}

/* True if most of what grows are caches of keys and values of requests that are done. */
static bool keeps_caches(const struct growth *growth)
{
    const struct growth_row *row = &growth->rows[growth_holder(growth)];
    return growth->graph != GRAPH_KEPT && row->category == CATEGORY_KV_CACHE && !row->in_use;
}

/* True if no program needs what grows and is of earlier steps: such caches, or gradients. */
static bool leaves_useless(const struct growth *growth)
{
    return keeps_caches(growth) || (growth->graph != GRAPH_KEPT && growth_is_of_gradients(growth));
}

static struct growth_words words_of_growth(const struct findings_maker *maker, bool trains)
{
    const struct growth *growth = maker->evidence->growth;
    bool has_loss = growth->scalar_row != NO_ROW;
    struct growth_words words = {
        "the largest part at",
        trains ? "A pool of limited size that is not full yet grows like this. Otherwise, find "
                 "what still refers to this memory: a list, a cache, a hook, a closure, a "
                 "stored exception or a reference cycle. A sum over the steps, or a state that "
                 "each step passes on to the next, keeps its autograd graph, too: add "
                 "tensor.detach() to it."
               : "A pool of limited size that is not full yet grows like this. Otherwise, find "
                 "what still refers to this memory: a list, a cache, a hook, a closure, a "
                 "stored exception or a reference cycle.",
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
        words.next = next_of_graphs(has_loss, trains);
    } else if (growth->grow_models) {
        words.where = "mostly parameters and the states of optimizers; the parameters are made at";
        words.next = "If one model is to grow, take parameters that no longer train out of its "
                     "optimizer. If they belong to models of earlier runs, find what still refers "
                     "to these models or their optimizers, such as a list of results, a closure "
                     "or a reference cycle. Keep numbers instead, or the weights in host "
                     "memory: " KEEP_ON_HOST;
    } else if (maker->grows_copied) {
        words.where = "copies of the weights made at";
        words.next = "Keep fewer of them, or keep them in host memory: " KEEP_ON_HOST;
    } else if (keeps_caches(growth)) {
        words.next = "The caches of earlier requests are still there: delete what refers to them, "
                     "such as what generate() returns with return_dict_in_generate=True "
                     "(past_key_values), or use a cache again for the next request.";
    } else if (growth->graph == GRAPH_NONE) {
        words.next =
            "No autograd graph keeps it, so loss.item() changes nothing. A pool of limited "
            "size that is not full yet grows like this. Otherwise, find the list, cache, "
            "hook or closure that stores these tensors, and move them to the host "
            "(tensor.cpu()) or keep less of them.";
    } else if (growth_is_of_gradients(growth)) {
        words.next =
            "Find what stores gradients of earlier steps (parameter.grad, or the result of "
            "torch.autograd.grad()): zero_grad() frees only those to which nothing else "
            "refers. Store copies on the host, or their norms.";
    } else if (growth->rows[growth_holder(growth)].stack == STACK_NONE) {
        words.next = "Record with stacks=\"python\" to see the code that keeps it.";
    } else if (growth->rows[growth_holder(growth)].category == CATEGORY_PARAMETER) {
        words.where = "mostly weights that are made at";
        words.next = "Delete models and adapters that are not needed any more "
                     "(model.delete_adapter() in peft) with all that refers to them, or keep their "
                     "weights in host memory.";
    } else if (growth_is_of_input(growth)) {
        words.next = "Data is stored, as in a replay memory or a data set that is not full yet. If "
                     "it has no limit, find the list, dictionary or attribute to which it is "
                     "added. Else give it a lower one, or keep it in host memory "
                     "(tensor.cpu()), and move only batches to the device.";
    }
    return words;
}

static bool reports_growth(const struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    return finding_share(maker, growth->save_bytes) >= LEAST_SHARE && growth->row_count > 0 &&
           growth->pools.kind != PRIVATE_SHAPES;
}

/* True if a row is of the same line of code and operator. */
static bool is_of_row(const struct growth_row *row, struct site_table *sites,
                      const struct live_source *source)
{
    frame_id line, other;
    return row->stack == source->shown || (site_frame(sites, source->shown, &source->site, &line) &&
                                           site_frame(sites, row->stack, &row->site, &other) &&
                                           other == line && row->site.op == source->site.op);
}

static bool grows(const struct growth *growth, struct site_table *sites,
                  const struct live_source *source)
{
    for (size_t i = 0; i < growth->row_count && growth->rows[i].fit.kind == GROWTH_GROWING; i++)
        if (is_of_row(&growth->rows[i], sites, source))
            return true;
    return false;
}

static bool find_dropped(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct dropped_graphs *dropped = maker->evidence->dropped;
    int64_t other = 0;
    if (!set || !dropped->is_dropped || !reports_growth(maker) ||
        maker->evidence->growth->graph == GRAPH_NONE ||
        finding_share(maker, dropped->save_bytes) < LEAST_SHARE)
        return true;
    for (size_t i = 0; i < set->count; i++) {
        const struct live *live = &set->items[i];
        struct live_source source;
        if (!live->in_trace || !dropped->is_dropped[live->index])
            continue;
        if (!live_source_of(set, live, &source, maker->err))
            return false;
        if (!grows(maker->evidence->growth, set->sites, &source))
            sum_add_capped(&other, (int64_t)live->size);
    }
    maker->grows_dropped = finding_share(maker, other) < LEAST_SHARE;
    return true;
}

static bool find_copied(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    if (!set)
        return true;
    if (!weight_copies_find(&maker->copied, set, maker->evidence->phases, WEIGHTS_COPIED,
                            maker->err))
        return false;
    if (maker->copied.bytes == 0 || !reports_growth(maker))
        return true;
    struct live_source source = {.own = maker->copied.stack, .shown = maker->copied.stack};
    if (!site_of(set->sites, source.shown, &source.site, maker->err))
        return false;
    const struct growth *growth = maker->evidence->growth;
    maker->grows_copied = is_of_row(&growth->rows[growth_holder(growth)], set->sites, &source);
    return true;
}

bool finding_find_grown(struct findings_maker *maker)
{
    return find_dropped(maker) && find_copied(maker);
}

/* The advice, what torch.no_grad() saves if no backward pass uses the graphs that grow, and what
 * may go with them. False if memory runs out. */
static bool add_next(const struct findings_maker *maker, const char *next, struct buffer *text)
{
    const struct growth *growth = maker->evidence->growth;
    buffer_puts(text, next);
    if (maker->grows_dropped)
        buffer_printf(text,
                      " No backward pass uses these graphs: run the calls that make them, and no "
                      "others, under torch.no_grad(), which saves %s %s.",
                      maker->evidence->dropped->saves_at_most ? "up to" : "at least",
                      finding_size(maker, maker->evidence->dropped->save_bytes).text);
    if (growth->graph == GRAPH_KEPT &&
        finding_share(maker, growth->input_save_bytes) >= LEAST_SHARE)
        buffer_printf(text,
                      " Inputs of earlier steps (%s) stay allocated, too: they are freed with the "
                      "graphs only if nothing else stores them.",
                      finding_size(maker, growth->input_save_bytes).text);
    return !text->failed || error_out_of_memory(maker->err);
}

/* All that is left over from earlier steps goes with a graph that nothing keeps any more, and what
 * other code derives from it; but inputs may be stored for their own sake, as in a replay buffer.
 * Without a backward pass, a variable may keep the graph of the last result until the next one is
 * there. */
static int64_t saving_of_growth(const struct growth *growth, bool trains)
{
    int64_t left = growth->save_bytes - growth->input_save_bytes;
    int64_t graphs = left < growth->graph_peak_save_bytes ? left : growth->graph_peak_save_bytes;
    int64_t save_bytes = graphs - (trains ? 0 : growth->bytes_per_step);
    return save_bytes > 0 ? save_bytes : graphs;
}

static int64_t saving_of_all(const struct growth *growth)
{
    return growth->save_bytes < growth->peak_save_bytes ? growth->save_bytes
                                                        : growth->peak_save_bytes;
}

/* Adds the subject of the sentence on growth. In a program that generates, each forward pass is a
 * step and adds a token, so that the growth of a step does not tell how much a request leaves. */
static bool add_subject(const struct findings_maker *maker, struct buffer *text)
{
    const struct growth *growth = maker->evidence->growth;
    if (growth->pools.kind == PRIVATE_NONE && keeps_caches(growth))
        buffer_puts(text,
                    "The memory of keys and values of requests that are done stays allocated");
    else
        buffer_printf(text, "Memory grows by %s a step",
                      finding_size(maker, growth->bytes_per_step).text);
    return !text->failed || error_out_of_memory(maker->err);
}

/* A finding with the bytes that it saves. Of stored results, a program may need some, so their
 * sum is an upper bound, unless it is exceeded by what torch.no_grad() saves in any case. */
static struct finding growth_saving(const struct findings_maker *maker, bool trains)
{
    const struct growth *growth = maker->evidence->growth;
    const struct dropped_graphs *graphs = maker->evidence->dropped;
    int64_t dropped = maker->grows_dropped && !graphs->saves_at_most ? graphs->save_bytes : 0;
    struct finding finding = {.kind = FINDING_GROWTH};
    finding.at_least = growth->graph == GRAPH_KEPT || leaves_useless(growth);
    finding.save_bytes = growth->graph == GRAPH_KEPT ? saving_of_growth(growth, trains)
                         : finding.at_least          ? saving_of_all(growth)
                                                     : growth->most_bytes;
    if (!finding.at_least && dropped >= finding.save_bytes) {
        finding.save_bytes = dropped;
        finding.at_least = true;
    }
    finding.at_most = !finding.at_least;
    return finding;
}

bool finding_of_growth(struct findings_maker *maker)
{
    const struct growth *growth = maker->evidence->growth;
    bool trains = phases_have(maker->evidence->phases, PHASE_BACKWARD);
    if (!reports_growth(maker))
        return true;
    const struct growth_row *row = &growth->rows[growth_holder(growth)];
    struct growth_words words = words_of_growth(maker, trains);
    bool has_stack = row->stack != STACK_NONE;
    struct buffer next = BUFFER_INIT, subject = BUFFER_INIT;
    struct finding finding = growth_saving(maker, trains);
    finding.where = has_stack ? row->label.full : NULL;
    bool ok =
        add_next(maker, words.next, &next) && add_subject(maker, &subject) &&
        finding_add(maker, finding, next.bytes, "%s%s%s %s%s%s.", subject.bytes,
                    has_stack ? ", " : "",
                    has_stack ? words.where : "; its allocations were recorded",
                    has_stack ? row->label.full : "without stacks",
                    growth->caller ? ", called at " : "", growth->caller ? growth->caller : "");
    buffer_release(&subject);
    buffer_release(&next);
    return ok;
}

bool finding_of_pending(struct findings_maker *maker)
{
    const struct pending_frees *pending = maker->evidence->pending;
    if (finding_share(maker, pending->at_peak_bytes) < LEAST_SHARE)
        return true;
    const char *where = pending->row_count ? pending->rows[0].label.full : NULL;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_PENDING_FREES,
                         .save_bytes = pending->at_peak_bytes,
                         .at_most = true,
                         .where = where},
        "Another stream also uses these tensors (Tensor.record_stream), or a CUDA graph was being "
        "captured. Instead of record_stream, keep a reference until the tensor's own stream waits "
        "for the other one (Stream.wait_stream), or keep fewer of them in flight.",
        "At the peak, the program had already freed %s that still wait for another stream%s%s.",
        finding_size(maker, pending->at_peak_bytes).text, where ? ", the largest part at " : "",
        where ? where : "");
}
