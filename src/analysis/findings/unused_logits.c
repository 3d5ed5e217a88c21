#include "analysis/findings/unused_logits.h"

#include "analysis/phase/births.h"
#include "base/text.h"

#define LEAST_SHARE 20 /* one 20th of the peak: smaller tensors are not looked at */
#define COPY_WINDOW 4  /* allocations from a product to its copy in another type */
#define FOLLOWERS   4  /* tensors made one from the other, each for every position */
#define READERS     6  /* allocations after a tensor that may be computed from it */
#define PROMPTS     4  /* results of a prompt before those of a token */
#define SMALLER     8  /* times, what is read of it */

struct finder {
    const struct live_set *set;
    struct unused_logits *logits;
    uint64_t largest; /* bytes of one of them */
};

static uint64_t size_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    return trace_size(timeline->trace, timeline->lifetimes[index].alloc);
}

static stack_id stack_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    return timeline->trace->stack[timeline->lifetimes[index].alloc];
}

static bool is_workspace(const struct finder *finder, size_t index)
{
    return finder->set->categories->of_lifetime[index] == CATEGORY_WORKSPACE;
}

/* Sets *is if one of the named operators made a block in a forward pass. */
static bool is_made_by(const struct finder *finder, size_t index, const char *const *names,
                       size_t count, bool *is, struct error *err)
{
    struct site_table *sites = finder->set->sites;
    const struct stack_facts *facts = site_stack_facts(sites, stack_of(finder, index), err);
    if (!facts)
        return false;
    *is = !facts->site.has_backward && !is_workspace(finder, index) &&
          facts->context != CONTEXT_INIT &&
          text_is_one_of(symbols_text(site_table_symbols(sites), facts->site.op), names, count);
    return true;
}

static bool is_product(const struct finder *finder, size_t index, bool *is, struct error *err)
{
    static const char *const products[] = {"aten::mm", "aten::addmm", "aten::bmm"};
    return is_made_by(finder, index, products, 3, is, err);
}

static bool is_live_at_peak(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    int64_t peak = timeline->active.peak_event;
    return (int64_t)timeline->lifetimes[index].alloc <= peak &&
           (int64_t)timeline->lifetimes[index].free_completed > peak;
}

/* Sets *source to a matrix product of which a block is a copy, in a type twice or half as wide,
 * made right after it; to SIZE_MAX if there is none. Other copies in another type may be of
 * anything, such as a mask. */
static bool find_source(const struct finder *finder, size_t index, size_t *source,
                        struct error *err)
{
    static const char *const copies[] = {"aten::_to_copy"};
    bool is_copy, is = false;
    *source = SIZE_MAX;
    if (!is_made_by(finder, index, copies, 1, &is_copy, err))
        return false;
    for (size_t i = index, seen = 0; is_copy && !is && i-- > 0 && seen < COPY_WINDOW; seen++) {
        uint64_t copy = size_of(finder, index), size = size_of(finder, i);
        if ((size == 2 * copy || copy == 2 * size) && !is_product(finder, i, &is, err))
            return false;
        if (is)
            *source = i;
    }
    return true;
}

/* Sets *may for what a forward pass made that may be logits, unless it is a copy of others that are
 * live at the peak. */
static bool may_be_logits(const struct finder *finder, size_t index, bool *may, struct error *err)
{
    size_t source;
    if (!is_product(finder, index, may, err) ||
        (!*may && !find_source(finder, index, &source, err)))
        return false;
    *may = *may || (source != SIZE_MAX && !is_live_at_peak(finder, source));
    return true;
}

/* Sets *next to a tensor for every position that is made right after another and may be computed
 * from it, as a copy in another type or a quotient; to SIZE_MAX if there is none. A softmax does
 * not count: the weights of attention are computed by one. */
static bool find_follower(const struct finder *finder, size_t index, size_t *next,
                          struct error *err)
{
    static const char *const operators[] = {"aten::_to_copy", "aten::div", "aten::mul",
                                            "aten::tanh", "aten::clone"};
    const struct timeline *timeline = finder->set->timeline;
    bool is = false;
    *next = SIZE_MAX;
    for (size_t i = index + 1;
         !is && i < timeline->lifetime_count && i - index <= COPY_WINDOW &&
         timeline->lifetimes[i].alloc < lifetime_end(&timeline->lifetimes[index]);
         i++) {
        uint64_t size = size_of(finder, i), of = size_of(finder, index);
        if ((size == of || size == 2 * of || of == 2 * size) &&
            !is_made_by(finder, i, operators, sizeof(operators) / sizeof(operators[0]), &is, err))
            return false;
        if (is)
            *next = i;
    }
    return true;
}

/* True if memory ran out between two items. */
static bool fails_between(const struct timeline *timeline, uint32_t from, uint32_t until)
{
    if (timeline->by_action[ACTION_OOM] == 0)
        return false;
    while (from < until && timeline->trace->action[from] != ACTION_OOM)
        from++;
    return from < until;
}

/* The largest of what comes next, if all of it is much smaller, else 0. What comes after memory ran
 * out is not computed from it. */
static uint64_t read_of(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    size_t readers = 0;
    uint64_t bytes = 0;
    for (size_t i = index + 1; i < timeline->lifetime_count && readers < READERS; i++) {
        uint32_t item = timeline->lifetimes[i].alloc;
        if (is_workspace(finder, i))
            continue;
        if (item >= lifetime_end(&timeline->lifetimes[index]) ||
            stack_of(finder, i) == stack_of(finder, index))
            break;
        if (fails_between(timeline, timeline->lifetimes[index].alloc, item))
            return 0;
        readers++;
        if (size_of(finder, i) > bytes)
            bytes = size_of(finder, i);
    }
    return bytes > size_of(finder, index) / SMALLER ? 0 : bytes;
}

/* True if one line and one operator made both. Calls of the model differ: the first reads the text,
 * the next ones a token each. */
static bool is_same_code(const struct finder *finder, size_t a, size_t b)
{
    struct site_table *sites = finder->set->sites;
    stack_id first = stack_of(finder, a), second = stack_of(finder, b);
    struct error err; /* cannot fail: the categories have looked the stacks up */
    if (first == second)
        return true;
    const struct stack_facts *facts = site_stack_facts(sites, first, &err);
    if (!facts)
        return false;
    frame_id line, other;
    struct site site = facts->site;
    if (!site_frame(sites, first, &site, &line))
        return false;
    facts = site_stack_facts(sites, second, &err);
    return facts && !is_workspace(finder, a) && site.op == facts->site.op &&
           site_frame(sites, second, &facts->site, &other) && line == other;
}

/* True if nothing is allocated while a block lives: it is the scratch space of one kernel. */
static bool is_scratch(const struct finder *finder, size_t index)
{
    const struct timeline *timeline = finder->set->timeline;
    return index + 1 < timeline->lifetime_count &&
           lifetime_end(&timeline->lifetimes[index]) < timeline->lifetimes[index + 1].alloc;
}

/* The next result of the same code, in the direction of `step`; SIZE_MAX: there is none. */
static size_t next_of(const struct finder *finder, size_t index, size_t step)
{
    size_t count = finder->set->timeline->lifetime_count;
    for (size_t i = index + step; i < count; i += step)
        if (is_same_code(finder, i, index) && !is_scratch(finder, i))
            return i;
    return SIZE_MAX;
}

/* True if three results of the code from this one on grow by the same amount each; with a `step`
 * of -1, the three up to this one. */
static bool grows(const struct finder *finder, size_t index, size_t step)
{
    size_t second = next_of(finder, index, step);
    size_t third = second == SIZE_MAX ? SIZE_MAX : next_of(finder, second, step);
    if (third == SIZE_MAX)
        return false;
    uint64_t a = size_of(finder, index), b = size_of(finder, second), c = size_of(finder, third);
    return step == 1 ? a < b && b - a == c - b : a > b && a - b == b - c;
}

/* True if a cache of keys and values is live at an item. */
static bool has_cache(const struct finder *finder, uint32_t item)
{
    const struct timeline *timeline = finder->set->timeline;
    const struct categories *categories = finder->set->categories;
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (categories->of_preexisting[i] == CATEGORY_KV_CACHE &&
            preexisting_end(&timeline->preexisting[i]) > item)
            return true;
    for (size_t i = 0; i < timeline->lifetime_count && timeline->lifetimes[i].alloc < item; i++)
        if (categories->of_lifetime[i] == CATEGORY_KV_CACHE &&
            lifetime_end(&timeline->lifetimes[i]) > item)
            return true;
    return false;
}

/* The next result of the same code that has another size: two models may read one prompt. */
static size_t next_other(const struct finder *finder, size_t index)
{
    size_t next = next_of(finder, index, 1);
    for (size_t i = 0; i < PROMPTS && next != SIZE_MAX; i++) {
        if (size_of(finder, next) != size_of(finder, index))
            return next;
        next = next_of(finder, next, 1);
    }
    return next;
}

static bool generates(const struct finder *finder, size_t index)
{
    size_t next = next_other(finder, index);
    if (next != SIZE_MAX && size_of(finder, next) <= size_of(finder, index) / SMALLER &&
        has_cache(finder, finder->set->timeline->lifetimes[next].alloc))
        return true;
    return grows(finder, index, 1) || grows(finder, index, (size_t)-1);
}

/* Adds what is there at the peak of logits and of the tensors made from them one after the other.
 * Sets *read to the size of what is computed from the last of these, 0 if that is not small. */
static bool follow(const struct finder *finder, size_t index, uint64_t *bytes, uint64_t *read,
                   struct error *err)
{
    size_t last = index, next = index;
    for (size_t i = 0; i <= FOLLOWERS && next != SIZE_MAX; i++) {
        last = next;
        *bytes += is_live_at_peak(finder, last) ? size_of(finder, last) : 0;
        if (!find_follower(finder, last, &next, err))
            return false;
    }
    *read = read_of(finder, last);
    return true;
}

static bool add(struct finder *finder, size_t index, struct error *err)
{
    struct unused_logits *logits = finder->logits;
    uint64_t read = 0, bytes = 0;
    bool may = false;
    if (!may_be_logits(finder, index, &may, err) ||
        (may && !follow(finder, index, &bytes, &read, err)))
        return false;
    if (read == 0 || !generates(finder, index))
        return true;
    logits->several =
        logits->several || (logits->bytes > 0 && logits->stack != stack_of(finder, index));
    if (size_of(finder, index) > finder->largest) {
        finder->largest = size_of(finder, index);
        logits->stack = stack_of(finder, index);
    }
    logits->bytes += (int64_t)bytes;
    if ((int64_t)read > logits->read_bytes)
        logits->read_bytes = (int64_t)read;
    return true;
}

bool unused_logits_find(struct unused_logits *logits, const struct live_set *at_peak,
                        struct error *err)
{
    struct finder finder = {.set = at_peak, .logits = logits};
    uint64_t least = (uint64_t)at_peak->timeline->active.peak_bytes / LEAST_SHARE;
    *logits = (struct unused_logits){0};
    for (size_t i = 0; i < at_peak->count; i++)
        if (at_peak->items[i].in_trace && at_peak->items[i].size > least &&
            !add(&finder, at_peak->items[i].index, err))
            return false;
    return true;
}
