/* Requests for logits, and for what a loss computes from them, that failed. */
#include "analysis/findings/failed_requests.h"
#include "analysis/findings/logits_internal.h"
#include "analysis/phase/births.h"
#include "analysis/phase/failures.h"
#include "base/text.h"

#define MOST_LAYERS 4096 /* allocations before a request that are searched for layers */
#define FEW_LAYERS  8    /* matrix products; fewer do not show that the next one is a head */
#define FAR_LARGER  2    /* times: the feed-forward layers of a transformer are wide, too */
#define AFTER_LAYER 4    /* allocations from a layer to the copy of its result in another type */

/* Sets *op to the operator of a forward pass that a stack shows; empty: it shows none. */
static bool forward_op(const struct logits_finder *finder, stack_id stack, struct text *op,
                       struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, err);
    if (!facts)
        return false;
    *op = facts->site.has_backward || facts->is_workspace ? (struct text){0}
                                                          : site_operator(finder->sites, facts);
    return true;
}

/* The products of linear layers. Those of attention are of batches of matrices. */
static bool is_linear(struct text op)
{
    return text_equals(op, "aten::mm") || text_equals(op, "aten::addmm");
}

/* How many Python frames a stack has. The model itself calls the head, and layers within layers
 * call most others. */
static size_t depth_of(const struct logits_finder *finder, stack_id stack)
{
    const struct stack frames = symbols_stack_at(site_table_symbols(finder->sites), stack);
    size_t depth = 0;
    for (size_t i = 0; stack != STACK_NONE && i < frames.count; i++)
        depth += site_frame_kind(finder->sites, frames.frames[i]) != FRAME_NATIVE;
    return depth;
}

/* The matrix products before a request: their number, sizes and depth in the model. */
struct products {
    size_t count, deeper;     /* deeper: those with more frames than the head */
    uint64_t latest, largest; /* bytes of the latest one, and of the largest before that */
    size_t since;             /* allocations after the latest one */
    size_t depth;             /* of the head: of the request or, if 0, of the latest one */
};

/* Looks at the products of linear layers back to the last backward pass. */
static bool look_back(const struct logits_finder *finder, size_t index, struct products *products,
                      struct error *err)
{
    for (size_t i = index; i-- > 0 && index - i <= MOST_LAYERS;) {
        enum logits_part part;
        struct text op;
        if (!logits_part_of(finder->sites, logits_stack_of(finder, i), &part, err) ||
            !forward_op(finder, logits_stack_of(finder, i), &op, err))
            return false;
        if (part >= LOGITS_LOSS_BACKWARD)
            break;
        if (!is_linear(op))
            continue;
        uint64_t size = logits_size_of(finder, i);
        size_t depth = depth_of(finder, logits_stack_of(finder, i));
        if (products->depth == 0)
            products->depth = depth;
        products->deeper += depth > products->depth;
        if (products->count++ == 0) {
            products->latest = size;
            products->since = index - i - 1;
        } else if (size > products->largest) {
            products->largest = size;
        }
    }
    return true;
}

#define MOST_DEEPER 4 /* three in this many of the layers before are deeper in the model */

/* Sets *is if a request is for the result of a layer, or for a copy of it, that is far larger than
 * those of all layers before it, and that the model itself calls: the layer has an output for each
 * word or class. */
static bool is_of_head(const struct logits_finder *finder, const struct logits_request *request,
                       enum logits_part part, struct text op, bool *is, struct error *err)
{
    struct products products = {0};
    bool is_layer = is_linear(op);
    *is = false;
    if (!is_layer && part != LOGITS_UNKNOWN && !text_equals(op, "aten::_to_copy"))
        return true;
    if (is_layer)
        products.depth = depth_of(finder, finder->timeline->trace->stack[request->item]);
    if (!look_back(finder, request->index, &products, err))
        return false;
    if (products.deeper < products.count / MOST_DEEPER * (MOST_DEEPER - 1))
        return true;
    if (is_layer) {
        uint64_t largest = products.latest > products.largest ? products.latest : products.largest;
        *is = products.count >= FEW_LAYERS && request->size / FAR_LARGER >= largest;
    } else {
        *is = products.count > FEW_LAYERS && products.since <= AFTER_LAYER &&
              logits_fit(request->size, products.latest) &&
              products.latest / FAR_LARGER >= products.largest;
    }
    return true;
}

/* True if the backward pass of a loss makes a request, right after logits that are as large. */
static bool is_gradient(const struct logits_finder *finder, const struct logits_request *request,
                        enum logits_part part)
{
    bool is = false;
    for (size_t i = request->index; (part == LOGITS_LOSS_BACKWARD || part == LOGITS_UNSEEN) &&
                                    !is && i-- > 0 && request->index - i <= LOGITS_BEFORE;)
        is = finder->logits->is_part[i] && logits_fit(request->size, logits_size_of(finder, i));
    return is;
}

static bool look_at(struct logits_finder *finder, uint32_t item, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    const struct logits_request request = {births_from(finder->timeline, item), item,
                                           trace_size(trace, item)};
    enum logits_part part;
    struct text op;
    if (!logits_part_of(finder->sites, trace->stack[item], &part, err) ||
        !forward_op(finder, trace->stack[item], &op, err))
        return false;
    bool is = failed_request_is_known(finder->timeline, finder->logits->is_part, item) ||
              is_gradient(finder, &request, part);
    if (!is && !is_of_head(finder, &request, part, op, &is, err))
        return false;
    bool is_computed = part == LOGITS_UNKNOWN || (op.size > 0 && !is_linear(op));
    if (is_computed && (is || part == LOGITS_LOG_SOFTMAX)) {
        size_t layer;
        if (!logits_mark_forward(finder, &request, request.index, &layer, err))
            return false;
        is = is || layer != LOGITS_NONE;
    }
    if (is)
        finder->logits->failed[finder->logits->failed_count++] = item;
    return true;
}

bool logits_find_failed(struct logits_finder *finder, struct error *err)
{
    struct failures failures;
    if (!failures_find(&failures, finder->timeline, err))
        return false;
    size_t first = failures.count > OOMS_MOST ? failures.count - OOMS_MOST : 0;
    bool ok = true;
    for (size_t i = first; ok && i < failures.count; i++)
        ok = look_at(finder, failures.items[i], err);
    failures_release(&failures);
    return ok;
}
