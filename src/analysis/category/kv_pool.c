/* Pools of keys and values that a server makes once for all requests: equal blocks that are made
 * one after another and stay. Weights of equal size do not come in one row, because each layer has
 * other weights in between. Compared with a pool, generation makes only small blocks for a token.
 */
#include "analysis/category/classifier.h"

#include <ctype.h>
#include <stdlib.h>

#include "analysis/code/paths.h"
#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/text.h"

#define LEAST_ROW   4  /* equal blocks; two are enough if they are the largest and among the last */
#define LEAST_EMPTY 2  /* equal blocks without contents that plain code makes */
#define LEAST_SHARE 20 /* a row has at least 1/20 of the bytes that stay */
#define SMALL       64 /* the median allocation is at most 1/64 of a block of the row */
#define SCALAR      16 /* bytes: beside each block of a row, a cache may have a counter of tokens */

/* A block that stays. Blocks from before the trace come first, by address, then the others by
 * birth. */
struct block {
    uint64_t size,
        place; /* `place`: first the address or the birth, later the index in that order */
    uint8_t *category, *reason;
    bool is_eligible;
    bool is_empty; /* plain code made it without contents, and after a model or in code that is
                      called a cache of keys and values */
};

struct pool_finder {
    const struct classifier *classifier;
    struct categories *categories;
    struct block *blocks;
    size_t count, capacity;
    bool has_model;  /* a block seen so far belongs to a model that is made in the trace */
    uint64_t median; /* median size of the allocations from the first step on */
    double bytes;    /* of all blocks that stay */
};

/* True if nothing certain is known of a block. The user's code may make it while a module is being
 * built. */
static bool is_eligible(const struct stack_facts *facts, enum reason reason)
{
    if (reason == REASON_NONE || reason == REASON_INFERENCE || reason == REASON_FORWARD_KEPT)
        return !facts || facts->context != CONTEXT_DATA;
    return reason == REASON_MODEL_MADE && facts && facts->site.user_frame != NO_FRAME &&
           facts->site.user_frame == facts->site.any_python_frame;
}

static bool makes_empty(const struct pool_finder *finder, const struct stack_facts *facts)
{
    static const char *const names[] = {
        "aten::zeros",     "aten::empty",     "aten::full",       "aten::ones",
        "aten::new_zeros", "aten::new_empty", "aten::zeros_like", "aten::empty_like",
    };
    struct text op = symbols_text(site_table_symbols(finder->classifier->sites), facts->site.op);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equals(op, names[i]))
            return true;
    return false;
}

/* "init_kv_cache", "KVCache.__init__" or "kv_cache.py" */
static bool names_cache(struct text text)
{
    static const char word[] = "kvcache";
    size_t matched = 0;
    for (size_t i = 0; i < text.size && word[matched]; i++) {
        char letter = (char)tolower((unsigned char)text.bytes[i]);
        if (letter == word[matched])
            matched++;
        else if (letter != '_')
            matched = letter == word[0];
    }
    return !word[matched];
}

/* True if the innermost function, or the one around it if that is a comprehension, or its file is
 * called a cache of keys and values. */
static bool is_named_cache(const struct pool_finder *finder, stack_id id)
{
    struct site_table *sites = finder->classifier->sites;
    const struct symbols *symbols = site_table_symbols(sites);
    struct stack stack = symbols_stack_at(symbols, id);
    for (size_t i = 0; i < stack.count; i++) {
        if (site_frame_kind(sites, stack.frames[i]) == FRAME_NATIVE)
            continue;
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        struct text name = symbols_text(symbols, frame.name);
        if (names_cache(name) || names_cache(path_base(symbols_text(symbols, frame.file))))
            return true;
        if (!text_ends(name, "comp>"))
            return false;
    }
    return false;
}

static bool add_block(struct pool_finder *finder, uint64_t size, uint64_t place, stack_id stack,
                      uint8_t *category, uint8_t *reason, struct error *err)
{
    const struct stack_facts *facts = NULL;
    if (stack != STACK_NONE) {
        facts = site_stack_facts(finder->classifier->sites, stack, err);
        if (!facts)
            return false;
    }
    struct block block = {.size = size, .place = place, .category = category, .reason = reason};
    block.is_eligible = is_eligible(facts, reason_of(*reason));
    finder->has_model = finder->has_model || (facts && facts->context == CONTEXT_INIT);
    block.is_empty = block.is_eligible && facts && facts->context == CONTEXT_OTHER &&
                     makes_empty(finder, facts) &&
                     (finder->has_model || is_named_cache(finder, stack));
    finder->bytes += (double)size;
    if (size <= SCALAR)
        return true;
    return vec_push(finder->blocks, finder->count, finder->capacity,
                    finder->classifier->timeline->snapshot->budget, err, block);
}

static int compare_places(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static bool collect(struct pool_finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    struct categories *categories = finder->categories;
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *block = &timeline->preexisting[i];
        if (classifier_stays(finder->classifier, preexisting_end(block)) &&
            !add_block(finder, block->size, block->addr, block->stack,
                       &categories->of_preexisting[i], &categories->why_preexisting[i], err))
            return false;
    }
    if (finder->count > 0)
        qsort(finder->blocks, finder->count, sizeof(*finder->blocks), compare_places);
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        if (phases_run_of(finder->classifier->phases, lifetime->alloc) >=
                finder->classifier->first_step_run ||
            !classifier_stays(finder->classifier, lifetime_end(lifetime)))
            continue;
        if (!add_block(finder, trace_size(timeline->trace, lifetime->alloc), lifetime->alloc,
                       timeline->trace->stack[lifetime->alloc], &categories->of_lifetime[i],
                       &categories->why_lifetime[i], err))
            return false;
    }
    for (size_t i = 0; i < finder->count; i++)
        finder->blocks[i].place = i;
    return true;
}

static bool find_median(struct pool_finder *finder, struct error *err)
{
    const struct timeline *timeline = finder->classifier->timeline;
    struct budget *budget = timeline->snapshot->budget;
    uint64_t *sizes = NULL;
    size_t count = 0, capacity = 0;
    if (!vec_reserve(sizes, capacity, timeline->lifetime_count + 1, budget, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        if (phases_run_of(finder->classifier->phases, timeline->lifetimes[i].alloc) >=
            finder->classifier->first_step_run)
            sizes[count++] = trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    finder->median = UINT64_MAX;
    if (count > 0) {
        qsort(sizes, count, sizeof(*sizes), compare_64);
        finder->median = sizes[count / 2];
    }
    vec_free(sizes, capacity, sizeof(*sizes), budget);
    return true;
}

/* Orders by size, and equal blocks by place. */
static int compare_blocks(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return compare_places(a, b);
}

static void take_row(struct block *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!row[i].is_eligible)
            continue;
        *row[i].category = CATEGORY_KV_CACHE;
        *row[i].reason = REASON_KV_CACHE_POOL;
    }
}

/* Decides whether a row of equal blocks is a pool. */
static void judge_row(const struct pool_finder *finder, struct block *row, size_t count,
                      uint64_t largest_other)
{
    size_t empty = 0;
    for (size_t i = 0; i < count; i++)
        empty += row[i].is_empty;
    if (empty == count && count >= LEAST_EMPTY) {
        take_row(row, count);
        return;
    }
    uint64_t within = row[count - 1].place - row[0].place + 1;
    /* An embedding table and a head may be equally large, but other weights of the model follow. */
    bool is_last = row[0].place * 4 >= (finder->count - count) * 3;
    size_t least = is_last && row->size > largest_other ? 2 : LEAST_ROW;
    if (count < least || within - count > count / 4 || row->size / SMALL < finder->median ||
        (double)row->size * (double)count * LEAST_SHARE < finder->bytes)
        return;
    take_row(row, count);
}

static void judge_rows(struct pool_finder *finder)
{
    struct block *blocks = finder->blocks;
    qsort(blocks, finder->count, sizeof(*blocks), compare_blocks);
    for (size_t i = 0, end; i < finder->count; i = end) {
        for (end = i + 1; end < finder->count && blocks[end].size == blocks[i].size;)
            end++;
        uint64_t largest = end < finder->count ? blocks[finder->count - 1].size : 0;
        judge_row(finder, &blocks[i], end - i, largest);
    }
}

bool classify_kv_pool(const struct classifier *classifier, struct categories *categories,
                      struct error *err)
{
    struct pool_finder finder = {.classifier = classifier, .categories = categories};
    if (!classifier->has_forward)
        return true;
    bool ok = collect(&finder, err) && find_median(&finder, err);
    if (ok && finder.count > 0)
        judge_rows(&finder);
    vec_free(finder.blocks, finder.capacity, sizeof(*finder.blocks),
             classifier->timeline->snapshot->budget);
    return ok;
}
