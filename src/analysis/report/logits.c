#include "analysis/report/logits.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "base/text.h"

#define BEFORE      12  /* allocations from the layer that makes the logits to their softmax */
#define MOST_JOINED 128 /* the same, if the layer makes them in parts, which are then joined */
#define MOST_APART  256 /* the same, if other heads of the model run in between */
#define POSITIONS   8   /* positions of a text of which the loss leaves out one */
/* Positions of a text, as a multiple of those that a loss reads; the others are a prompt. */
#define LEFT_OUT 16

#define NONE SIZE_MAX

enum part {
    PART_OTHER,
    PART_LAYER, /* what may make logits: a matrix product, a convolution, or upsampling */
    PART_SOFTMAX,
    PART_LOG_SOFTMAX,
    PART_LOSS, /* nll_loss, whose result is small */
    PART_FORWARD,
    PART_LOSS_BACKWARD, /* of log_softmax and nll_loss */
    PART_LAYER_BACKWARD,
    PART_BACKWARD,
};

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    struct logits *logits;
    size_t softmax; /* a softmax after which no layer came yet, or NONE */
    size_t latest;  /* the latest softmax or log_softmax of logits, or NONE */
    bool in_loss;   /* since then, no layer came, and no backward pass of one */
    bool of_latest; /* the same; the result of a loss does not end it, because a loss may be
                       computed for a part of the logits at a time */
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc);
}

static bool is_product(struct text op)
{
    static const char *const products[] = {"aten::mm", "aten::addmm", "aten::bmm"};
    return text_is_one_of(op, products, 3);
}

static enum part forward_part(struct text op)
{
    static const char *const images[] = {"aten::convolution", "aten::_convolution",
                                         "aten::cudnn_convolution", "aten::upsample_",
                                         "aten::_upsample_"};
    if (text_equals(op, "aten::_log_softmax"))
        return PART_LOG_SOFTMAX;
    if (text_equals(op, "aten::_softmax"))
        return PART_SOFTMAX;
    if (text_equals(op, "aten::nll_loss_forward") || text_equals(op, "aten::nll_loss2d_forward"))
        return PART_LOSS;
    return is_product(op) || text_starts_with_one_of(op, images, 5) ? PART_LAYER : PART_FORWARD;
}

/* A backward pass that torch.compile compiled has no nodes, but the operators that nodes call. */
static enum part compiled_part(struct text op)
{
    static const char *const losses[] = {"aten::_log_softmax_backward_data",
                                         "aten::nll_loss_backward", "aten::nll_loss2d_backward"};
    static const char *const layers[] = {"aten::convolution_backward", "aten::upsample_"};
    if (text_is_one_of(op, losses, 3))
        return PART_LOSS_BACKWARD;
    return is_product(op) || text_starts_with_one_of(op, layers, 2) ? PART_LAYER_BACKWARD
                                                                    : PART_BACKWARD;
}

static enum part backward_part(struct text node, struct text op)
{
    static const char *const losses[] = {"LogSoftmaxBackward0", "NllLossBackward0",
                                         "NllLoss2DBackward0"};
    static const char *const layers[] = {"MmBackward",  "AddmmBackward",    "BmmBackward",
                                         "Convolution", "CudnnConvolution", "Upsample"};
    if (node.size == 0)
        return compiled_part(op);
    if (text_is_one_of(node, losses, 3))
        return PART_LOSS_BACKWARD;
    return text_starts_with_one_of(node, layers, 6) ? PART_LAYER_BACKWARD : PART_BACKWARD;
}

static bool part_of(const struct finder *finder, size_t index, enum part *part, struct error *err)
{
    const struct trace *trace = finder->timeline->trace;
    stack_id stack = trace->stack[finder->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, err);
    if (!facts)
        return false;
    const struct symbols *symbols = site_table_symbols(finder->sites);
    struct text op = symbols_text(symbols, facts->site.op);
    if (facts->is_workspace)
        *part = PART_OTHER;
    else if (facts->site.has_backward)
        *part = backward_part(symbols_text(symbols, facts->site.node), op);
    else
        *part = forward_part(op);
    return true;
}

/* True if a size is that of as many numbers as `of`, or of a few more: a loss often leaves out the
 * last position. */
static bool is_near(uint64_t size, uint64_t of)
{
    return size >= of && size - of <= of / POSITIONS;
}

/* The same, in the same type or in one twice or half as wide. */
static bool fits(uint64_t size, uint64_t of)
{
    return is_near(size, of) || is_near(size, of / 2) || is_near(size / 2, of);
}

/* Sets *may_be if the result of the last matrix product before the softmax may be logits of which
 * the loss only reads a part, such as the text after a prompt. */
static bool may_be_cut(const struct finder *finder, size_t layer, uint64_t softmax, bool *may_be,
                       struct error *err)
{
    uint64_t size = size_of(finder, layer);
    stack_id stack = finder->timeline->trace->stack[finder->timeline->lifetimes[layer].alloc];
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, err);
    if (!facts)
        return false;
    struct text op = symbols_text(site_table_symbols(finder->sites), facts->site.op);
    *may_be = is_product(op) && size >= softmax / 2 && size / LEFT_OUT <= softmax;
    return true;
}

/* Finds the layer whose result the softmax takes, or the first of several in a row whose results
 * are joined: a head may compute the logits for a part of the tokens at a time. Sets *layer to NONE
 * if there is none. */
static bool find_layer(const struct finder *finder, size_t softmax, size_t *layer,
                       struct error *err)
{
    uint64_t size = size_of(finder, softmax), joined = 0;
    bool found = false, is_last = true;
    *layer = NONE;
    for (size_t i = softmax; !found && i > 0;) {
        enum part part;
        if (softmax - i >= (joined > 0 ? MOST_JOINED : BEFORE))
            break;
        if (!part_of(finder, --i, &part, err))
            return false;
        if (part == PART_OTHER)
            continue;
        if (part != PART_LAYER) { /* the end of a row of layers */
            found = *layer != NONE;
            joined = 0;
            continue;
        }
        found = fits(size_of(finder, i), size);
        if (!found && is_last && !may_be_cut(finder, i, size, &found, err))
            return false;
        joined += size_of(finder, i);
        if (found || fits(joined, size))
            *layer = i;
        is_last = false;
    }
    return true;
}

/* Finds the layer whose result a softmax takes although much else ran in between, such as other
 * heads of the model: the last one with a result as large as that of the softmax, if it is still
 * there. Sets *layer to NONE if there is none. */
static bool find_layer_apart(const struct finder *finder, size_t softmax, size_t *layer,
                             struct error *err)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    uint64_t size = size_of(finder, softmax);
    *layer = NONE;
    for (size_t i = softmax; *layer == NONE && i > 0 && softmax - i < MOST_APART;) {
        enum part part;
        if (size_of(finder, --i) != size || lifetime_end(&lifetimes[i]) < lifetimes[softmax].alloc)
            continue;
        if (!part_of(finder, i, &part, err))
            return false;
        if (part == PART_LAYER)
            *layer = i;
    }
    return true;
}

/* Marks what lies between the layer that made the logits and item `end`, after their softmax.
 * Nothing is marked if there is no such layer. */
static bool mark_forward(struct finder *finder, size_t softmax, size_t end, struct error *err)
{
    uint64_t size = size_of(finder, softmax);
    size_t layer, apart = NONE;
    if (!find_layer(finder, softmax, &layer, err) ||
        (layer == NONE && !find_layer_apart(finder, softmax, &apart, err)))
        return false;
    if (apart != NONE) {
        finder->logits->is_part[apart] = 1;
        layer = softmax;
    }
    if (layer == NONE && finder->of_latest &&
        fits(size_of(finder, softmax), size_of(finder, finder->latest)))
        layer = finder->latest; /* the next part of the same logits */
    uint64_t whole = layer == NONE ? 0 : size_of(finder, layer);
    for (size_t i = layer; i < end; i++)
        finder->logits->is_part[i] =
            fits(size_of(finder, i), size) || fits(size_of(finder, i), whole);
    if (layer != NONE)
        finder->latest = softmax;
    finder->in_loss = finder->of_latest = layer != NONE;
    return true;
}

/* Looks at the next allocation. A softmax may be that of attention, whose result a matrix product
 * takes, so only the last one before the backward pass is that of a loss. */
static bool look_at(struct finder *finder, size_t index, struct error *err)
{
    enum part part;
    if (!part_of(finder, index, &part, err))
        return false;
    switch (part) {
    case PART_LAYER:
        finder->softmax = NONE;
        finder->in_loss = finder->of_latest = false;
        return true;
    case PART_SOFTMAX:
        finder->softmax = index;
        break;
    case PART_LOG_SOFTMAX:
        finder->softmax = NONE;
        return mark_forward(finder, index, index + 1, err);
    case PART_LOSS: /* what follows, such as a penalty on the weights, is not computed of logits */
        finder->in_loss = false;
        break;
    case PART_LOSS_BACKWARD:
        finder->in_loss = finder->latest != NONE;
        /* fall through */
    case PART_LAYER_BACKWARD:
    case PART_BACKWARD:
        if (finder->softmax != NONE && !mark_forward(finder, finder->softmax, index, err))
            return false;
        finder->softmax = NONE;
        finder->of_latest = false;
        finder->in_loss = finder->in_loss && part != PART_LAYER_BACKWARD;
        break;
    default:
        break;
    }
    bool is_loss = part == PART_LOSS_BACKWARD || (finder->in_loss && part != PART_OTHER);
    if (finder->latest != NONE && is_loss)
        finder->logits->is_part[index] =
            fits(size_of(finder, index), size_of(finder, finder->latest));
    return true;
}

bool logits_find(struct logits *logits, const struct timeline *timeline, struct site_table *sites,
                 int64_t item, struct error *err)
{
    struct logits made = {.budget = timeline->snapshot->budget};
    struct finder finder = {timeline, sites, &made, NONE, NONE, false, false};
    if (!vec_reserve(made.is_part, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_part, 0, timeline->lifetime_count + 1);
    size_t end = item < 0 ? 0 : births_from(timeline, (uint32_t)item + 1);
    bool ok = true;
    /* the last softmax before the backward pass is known once that begins */
    for (size_t i = 0; ok && i < timeline->lifetime_count && (i < end || finder.softmax != NONE);
         i++)
        ok = look_at(&finder, i, err);
    if (!ok) {
        logits_release(&made);
        return false;
    }
    *logits = made;
    return true;
}

void logits_release(struct logits *logits)
{
    vec_free(logits->is_part, logits->capacity, sizeof(*logits->is_part), logits->budget);
    *logits = (struct logits){0};
}
