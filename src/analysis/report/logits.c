#include "analysis/report/logits.h"

#include <string.h>

#include "analysis/phase/births.h"
#include "base/text.h"

#define BEFORE    12 /* allocations from the product to log_softmax, at most */
#define POSITIONS 8  /* of a text, at least, of which the loss leaves out one */
#define AFTER     4  /* from log_softmax to the copy of it that the loss takes, at most */

enum part { PART_OTHER, PART_PRODUCT, PART_LOG_SOFTMAX, PART_FORWARD, PART_BACKWARD };

struct finder {
    const struct timeline *timeline;
    struct site_table *sites;
    struct logits *logits;
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    return trace_size(finder->timeline->trace, finder->timeline->lifetimes[index].alloc);
}

static bool part_of(struct finder *finder, size_t index, enum part *part, struct error *err)
{
    static const char *const products[] = {"aten::mm", "aten::addmm", "aten::bmm"};
    static const char *const nodes[] = {"LogSoftmaxBackward0", "NllLossBackward0",
                                        "NllLoss2DBackward0"};
    const struct trace *trace = finder->timeline->trace;
    stack_id stack = trace->stack[finder->timeline->lifetimes[index].alloc];
    const struct stack_facts *facts = site_stack_facts(finder->sites, stack, err);
    if (!facts)
        return false;
    const struct symbols *symbols = site_table_symbols(finder->sites);
    struct text op = symbols_text(symbols, facts->site.op);
    *part = PART_FORWARD;
    if (facts->is_workspace)
        *part = PART_OTHER;
    else if (facts->site.has_backward)
        *part = text_is_one_of(symbols_text(symbols, facts->site.node), nodes, 3) ? PART_BACKWARD
                                                                                  : PART_OTHER;
    else if (text_equals(op, "aten::_log_softmax"))
        *part = PART_LOG_SOFTMAX;
    else if (text_is_one_of(op, products, 3))
        *part = PART_PRODUCT;
    return true;
}

/* As many numbers, or a few more: a loss often leaves out the last position. */
static bool is_near(uint64_t size, uint64_t of)
{
    return size >= of && size - of <= of / POSITIONS;
}

/* The same, of the same type or of twice or half the width. */
static bool fits(uint64_t size, uint64_t of)
{
    return is_near(size, of) || is_near(size, of / 2) || is_near(size / 2, of);
}

/* Marks what lies between the product that made the logits and their log_softmax. Nothing is marked
 * if there is no product, since the last layer is then not a linear layer. */
static bool mark_forward(struct finder *finder, size_t log_softmax, bool *found, struct error *err)
{
    uint64_t size = size_of(finder, log_softmax);
    size_t product = log_softmax, end = log_softmax > BEFORE ? log_softmax - BEFORE : 0;
    *found = false;
    while (!*found && product > end) {
        enum part part;
        if (!part_of(finder, --product, &part, err))
            return false;
        *found = part == PART_PRODUCT && fits(size_of(finder, product), size);
    }
    for (size_t i = product; *found && i <= log_softmax; i++)
        finder->logits->is_part[i] = fits(size_of(finder, i), size);
    return true;
}

static bool find(struct finder *finder, size_t end, struct error *err)
{
    size_t latest = SIZE_MAX; /* log_softmax of logits */
    for (size_t i = 0; i < end; i++) {
        enum part part;
        bool found;
        if (!part_of(finder, i, &part, err))
            return false;
        if (part == PART_LOG_SOFTMAX) {
            if (!mark_forward(finder, i, &found, err))
                return false;
            latest = found ? i : latest;
        } else if (latest != SIZE_MAX &&
                   (part == PART_BACKWARD || (part == PART_FORWARD && i - latest <= AFTER))) {
            finder->logits->is_part[i] = fits(size_of(finder, i), size_of(finder, latest));
        }
    }
    return true;
}

bool logits_find(struct logits *logits, const struct timeline *timeline, struct site_table *sites,
                 int64_t item, struct error *err)
{
    struct logits made = {.budget = timeline->snapshot->budget};
    struct finder finder = {timeline, sites, &made};
    if (!vec_reserve(made.is_part, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_part, 0, timeline->lifetime_count + 1);
    if (!find(&finder, item < 0 ? 0 : births_from(timeline, (uint32_t)item + 1), err)) {
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
