/* Buckets of DistributedDataParallel in a trace without stacks. After the first pass that exchanges
 * gradients, it frees its buckets and at once makes others, in the order in which that pass made
 * the gradients. Together, both have the same bytes: those of all gradients. */
#include "analysis/category/classifier.h"
#include "analysis/phase/births.h"

#define MOST_BUCKETS  64
#define LEAST_BUCKETS 3          /* old ones and new ones: one block may replace one of its size */
#define LEAST_BYTES   (1u << 20) /* of all of them */
#define MOST_BETWEEN  64         /* events between two buckets: segments, and ends of frees */
#define MOST_ROWS     16         /* of several models, or of other blocks */
#define MOST_TIMES    1.1        /* buckets hold a few bytes more, for their alignment */
#define LEAST_PART    8          /* they are at least 1/8 as large as all weights together */

/* New buckets, which are made in a row, and the frees right before them. */
struct row {
    size_t first, count; /* lifetimes */
    uint64_t bytes;
    uint32_t from; /* the item of the first of the frees that were looked at */
    size_t freed_count;
    uint64_t freed_bytes;
};

/* Adds the free before row->from, unless another event comes before it. */
static bool add_free(const struct trace *trace, struct row *row)
{
    unsigned others = 0;
    for (uint32_t at = row->from; at > 0 && others < MOST_BETWEEN; others++) {
        uint8_t action = trace->action[--at];
        if (action == trace->request) {
            row->from = at;
            row->freed_count++;
            row->freed_bytes += trace_size(trace, at);
            return true;
        }
        if (action != ACTION_FREE_COMPLETED && action != ACTION_SEGMENT_ALLOC)
            return false;
    }
    return false;
}

/* True if lifetime `next` is made right after the one before it. Segments for it come between. */
static bool follows(const struct timeline *timeline, size_t next)
{
    uint32_t at = timeline->lifetimes[next].alloc, last = timeline->lifetimes[next - 1].alloc;
    for (unsigned i = 0; at > last + 1 && i < MOST_BETWEEN; i++, at--)
        if (timeline->trace->action[at - 1] != ACTION_SEGMENT_ALLOC)
            return false;
    return at == last + 1;
}

static bool may_be_bucket(const struct classifier *classifier, const struct categories *categories,
                          size_t index)
{
    enum reason reason = reason_of(categories->why_lifetime[index]);
    return reason != REASON_FILE && reason != REASON_RULE &&
           lifetime_end(&classifier->timeline->lifetimes[index]) == EVENT_NEVER;
}

/* True if blocks are as large as the weights of a model may be. Other weights may be frozen, or
 * belong to other models, as in a GAN. */
static bool is_as_model(const struct classifier *classifier, uint64_t bytes)
{
    return bytes >= LEAST_BYTES && (double)bytes * LEAST_PART >= classifier->early_bytes &&
           (double)bytes <= classifier->early_bytes * MOST_TIMES;
}

/* True if some of the new buckets have a size that no weight has. Otherwise they may be weights, or
 * their states, that replace others. */
static bool is_joined(const struct classifier *classifier, const struct row *row)
{
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (!classifier_has_early(classifier,
                                  trace_size(timeline->trace, timeline->lifetimes[i].alloc)))
            return true;
    return false;
}

/* Looks for new buckets that begin with lifetime row->first, and for old ones. */
static bool find_row(const struct classifier *classifier, const struct categories *categories,
                     struct row *row)
{
    const struct timeline *timeline = classifier->timeline;
    row->from = timeline->lifetimes[row->first].alloc;
    for (size_t i = row->first; i < timeline->lifetime_count && row->count < MOST_BUCKETS; i++) {
        if (!may_be_bucket(classifier, categories, i) || (i > row->first && !follows(timeline, i)))
            return false;
        row->bytes += trace_size(timeline->trace, timeline->lifetimes[i].alloc);
        row->count++;
        while (row->freed_bytes < row->bytes && row->freed_count < MOST_BUCKETS)
            if (!add_free(timeline->trace, row))
                return false;
        if (row->freed_bytes == row->bytes && row->freed_count + row->count >= LEAST_BUCKETS &&
            is_as_model(classifier, row->bytes) && is_joined(classifier, row))
            return true;
    }
    return false;
}

static void set_bucket(uint8_t *category, uint8_t *why)
{
    *category = CATEGORY_COMMUNICATION;
    *why = reason_byte(REASON_COMMUNICATION, DOUBT_GUESS);
}

/* The number of lifetimes that begin before the first backward pass, as those of the old buckets
 * do.
 */
static size_t early_count(const struct classifier *classifier)
{
    return births_from(classifier->timeline,
                       classifier->phases->runs[classifier->first_backward_run].first);
}

static bool is_freed_for(const struct classifier *classifier, const struct row *row, uint32_t end)
{
    return end >= row->from && end < classifier->timeline->lifetimes[row->first].alloc;
}

/* True if a new block has a size. Batches replace batches of their sizes; buckets are divided in
 * another way. */
static bool is_made_again(const struct classifier *classifier, const struct row *row, uint64_t size)
{
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (trace_size(timeline->trace, timeline->lifetimes[i].alloc) == size)
            return true;
    return false;
}

/* False if some of the old blocks were made later than buckets, or are no buckets by their sizes.
 */
static bool are_buckets(const struct classifier *classifier, const struct row *row, size_t early)
{
    const struct timeline *timeline = classifier->timeline;
    size_t found = 0;
    for (size_t i = 0; i < early; i++)
        found += is_freed_for(classifier, row, lifetime_end(&timeline->lifetimes[i])) &&
                 !is_made_again(classifier, row,
                                trace_size(timeline->trace, timeline->lifetimes[i].alloc));
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        found += is_freed_for(classifier, row, preexisting_end(&timeline->preexisting[i])) &&
                 !is_made_again(classifier, row, timeline->preexisting[i].size);
    return found == row->freed_count;
}

static void set_buckets(const struct classifier *classifier, struct categories *categories,
                        const struct row *row, size_t early)
{
    const struct timeline *timeline = classifier->timeline;
    for (size_t i = 0; i < early; i++)
        if (is_freed_for(classifier, row, lifetime_end(&timeline->lifetimes[i])))
            set_bucket(&categories->of_lifetime[i], &categories->why_lifetime[i]);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        if (is_freed_for(classifier, row, preexisting_end(&timeline->preexisting[i])))
            set_bucket(&categories->of_preexisting[i], &categories->why_preexisting[i]);
    for (size_t i = row->first; i < row->first + row->count; i++)
        set_bucket(&categories->of_lifetime[i], &categories->why_lifetime[i]);
}

void classify_rebuilt_buckets(const struct classifier *classifier, struct categories *categories)
{
    const struct timeline *timeline = classifier->timeline;
    if (classifier->phases->has_stacks || classifier->first_backward_run == NO_RUN)
        return;
    size_t early = early_count(classifier);
    unsigned rows = 0;
    for (size_t i = early; i < timeline->lifetime_count && rows < MOST_ROWS; i++) {
        struct row row = {.first = i};
        if (!find_row(classifier, categories, &row))
            continue;
        rows++;
        if (!are_buckets(classifier, &row, early))
            continue;
        set_buckets(classifier, categories, &row, early);
        i += row.count - 1;
    }
}
