/* The layer that made the logits of a softmax, and what lies between the two. */
#include "analysis/findings/logits_internal.h"
#include "analysis/phase/births.h"
#include "base/text.h"

/* Allocations from the layer to the softmax: if the layer makes its result in parts, which are then
 * joined, and if other heads of the model run in between. */
#define MOST_JOINED 128
#define MOST_APART  256

#define POSITIONS 8 /* positions of a text of which the loss leaves out one */
/* Positions of a text, as a multiple of those that a loss reads; the others are a prompt. */
#define LEFT_OUT 16

/* True if a size is that of as many numbers as `of`, or of a few more: a loss often leaves out the
 * last position. */
static bool is_near(uint64_t size, uint64_t of)
{
    return size >= of && size - of <= of / POSITIONS;
}

bool logits_fit(uint64_t size, uint64_t of)
{
    return is_near(size, of) || is_near(size, of / 2) || is_near(size / 2, of);
}

/* Sets *may_be if the result of the last matrix product before the softmax may be logits of which
 * the loss only reads a part, such as the text after a prompt. */
static bool may_be_cut(const struct logits_finder *finder, size_t layer, uint64_t softmax,
                       bool *may_be, struct error *err)
{
    uint64_t size = logits_size_of(finder, layer);
    const struct stack_facts *facts =
        site_stack_facts(finder->sites, logits_stack_of(finder, layer), err);
    if (!facts)
        return false;
    struct text op = site_operator(finder->sites, facts);
    *may_be = logits_is_product(op) && size >= softmax / 2 && size / LEFT_OUT <= softmax;
    return true;
}

/* True for a tensor that is gone before the next one is made, as a workspace of a product is:
 * nothing is computed from it. C++ frames name workspaces, Python frames alone do not. */
static bool is_scratch(const struct logits_finder *finder, size_t index)
{
    const struct timeline *timeline = finder->timeline;
    return index + 1 < timeline->lifetime_count &&
           lifetime_end(&timeline->lifetimes[index]) < timeline->lifetimes[index + 1].alloc;
}

/* Finds the layer whose result the softmax takes, or the first of several in a row whose results
 * are joined: a head may compute the logits for a part of the tokens at a time. Sets *layer to
 * LOGITS_NONE if there is none. */
static bool find_layer(const struct logits_finder *finder, const struct logits_request *softmax,
                       size_t *layer, struct error *err)
{
    uint64_t joined = 0;
    bool found = false, is_last = true;
    *layer = LOGITS_NONE;
    for (size_t i = softmax->index; !found && i > 0;) {
        enum logits_part part;
        if (softmax->index - i >= (joined > 0 ? MOST_JOINED : LOGITS_BEFORE))
            break;
        if (!logits_part_of(finder->sites, logits_stack_of(finder, --i), &part, err))
            return false;
        if (part == LOGITS_OTHER || (part == LOGITS_LAYER && is_scratch(finder, i)))
            continue;
        if (part != LOGITS_LAYER) { /* the end of a row of layers */
            found = *layer != LOGITS_NONE;
            joined = 0;
            continue;
        }
        found = logits_fit(logits_size_of(finder, i), softmax->size);
        if (!found && is_last && !may_be_cut(finder, i, softmax->size, &found, err))
            return false;
        joined += logits_size_of(finder, i);
        if (found || logits_fit(joined, softmax->size))
            *layer = i;
        is_last = false;
    }
    return true;
}

/* Finds the layer whose result a softmax takes although much else ran in between, such as other
 * heads of the model: the last one with a result as large as that of the softmax, if it is still
 * there. Sets *layer to LOGITS_NONE if there is none. */
static bool find_layer_apart(const struct logits_finder *finder,
                             const struct logits_request *softmax, size_t *layer, struct error *err)
{
    const struct lifetime *lifetimes = finder->timeline->lifetimes;
    *layer = LOGITS_NONE;
    for (size_t i = softmax->index;
         *layer == LOGITS_NONE && i > 0 && softmax->index - i < MOST_APART;) {
        enum logits_part part;
        if (logits_size_of(finder, --i) != softmax->size ||
            lifetime_end(&lifetimes[i]) < softmax->item)
            continue;
        if (!logits_part_of(finder->sites, logits_stack_of(finder, i), &part, err))
            return false;
        if (part == LOGITS_LAYER)
            *layer = i;
    }
    return true;
}

/* Finds the first of the tensors as large as a softmax that lines of Python make right before it. A
 * product has no frame of its own: `x @ weight.T` and F.linear(x, weight) make the logits of tied
 * weights. Sets *layer to LOGITS_NONE if there is none. */
static bool find_unknown(const struct logits_finder *finder, const struct logits_request *softmax,
                         size_t *layer, struct error *err)
{
    *layer = LOGITS_NONE;
    for (size_t i = softmax->index; i > 0 && softmax->index - i < LOGITS_BEFORE;) {
        enum logits_part part;
        bool fits = logits_fit(logits_size_of(finder, --i), softmax->size);
        if (is_scratch(finder, i) ||
            (!fits && logits_size_of(finder, i) < softmax->size / LEFT_OUT))
            continue;
        if (!logits_part_of(finder->sites, logits_stack_of(finder, i), &part, err))
            return false;
        if (part != LOGITS_UNKNOWN || !fits)
            break;
        *layer = i;
    }
    return true;
}

bool logits_mark_forward(struct logits_finder *finder, const struct logits_request *softmax,
                         size_t end, size_t *layer, struct error *err)
{
    size_t apart = LOGITS_NONE;
    if (!find_layer(finder, softmax, layer, err) ||
        (*layer == LOGITS_NONE && !find_unknown(finder, softmax, layer, err)) ||
        (*layer == LOGITS_NONE && !find_layer_apart(finder, softmax, &apart, err)))
        return false;
    if (apart != LOGITS_NONE) {
        finder->logits->is_part[apart] = 1;
        *layer = softmax->index;
    }
    if (*layer == LOGITS_NONE && finder->of_latest &&
        logits_fit(softmax->size, logits_size_of(finder, finder->latest)))
        *layer = finder->latest; /* the next part of the same logits */
    uint64_t whole = *layer < end ? logits_size_of(finder, *layer) : 0;
    for (size_t i = *layer; i < end; i++)
        finder->logits->is_part[i] = logits_fit(logits_size_of(finder, i), softmax->size) ||
                                     logits_fit(logits_size_of(finder, i), whole);
    return true;
}
