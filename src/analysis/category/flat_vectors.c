/* Vectors that plain code joins from gradients or weights, by their sizes. */
#include "analysis/category/traced_reason.h"

#include "analysis/phase/births.h"
#include "base/bisect.h"
#include "base/text.h"

#define LEAST_FLAT 4096 /* bytes; smaller sums match other sizes by chance */

bool has_stepped_since(const struct classifier *classifier, const struct evidence *evidence,
                       uint32_t pass)
{
    const struct timeline *timeline = classifier->timeline;
    const struct step_marks *steps = &classifier->steps;
    uint32_t birth = timeline->lifetimes[evidence->index].alloc;
    size_t after = steps->count == 0 ? 0
                                     : bisect_until(&steps->items->end, sizeof(*steps->items),
                                                    steps->count, birth);
    if (after == 0 || steps->items[after - 1].begin < classifier->phases->runs[pass].first)
        return false;
    size_t first = births_from(timeline, steps->items[after - 1].end);
    return phases_run_of(classifier->phases, timeline->lifetimes[first].alloc) != pass;
}

/* The number of the last gradients of a backward run that add up to a size, if that is more than
 * one; else 0. */
static uint32_t count_parts(const struct classifier *classifier, uint64_t size, uint32_t run)
{
    const struct left_gradients *left = &classifier->left;
    uint64_t sum = 0;
    uint32_t parts = 0;
    if (left->run != run || size < LEAST_FLAT)
        return 0;
    while (parts < left->count && parts < FLAT_MOST && sum < size) {
        uint64_t part = left->sizes[(left->count - ++parts) % FLAT_MOST];
        if (part >= size)
            return 0;
        sum += part;
    }
    return sum == size ? parts : 0;
}

bool joins_gradients(const struct classifier *classifier, uint64_t size, uint32_t run)
{
    return count_parts(classifier, size, run) > 0;
}

/* True if plain code after the backward run *pass makes a vector as large as several of its
 * gradients together. */
static bool is_flat(const struct classifier *classifier, const struct evidence *evidence,
                    uint32_t *pass)
{
    uint64_t size = evidence_size(classifier, evidence);
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    return step_near(classifier, evidence->birth_run, -1, pass) == PHASE_BACKWARD &&
           ((tally && tally->is_flat) || joins_gradients(classifier, size, *pass));
}

bool is_flat_gradient(const struct classifier *classifier, const struct evidence *evidence)
{
    uint32_t pass;
    return is_flat(classifier, evidence, &pass) && !has_stepped_since(classifier, evidence, pass);
}

/* The backward run before the optimizer step that ended before an allocation, or NO_RUN. */
static uint32_t pass_before_step(const struct classifier *classifier,
                                 const struct evidence *evidence)
{
    uint32_t near;
    enum phase phase = step_near(classifier, evidence->birth_run, -1, &near);
    if (phase == PHASE_BACKWARD && has_stepped_since(classifier, evidence, near))
        return near;
    if (phase == PHASE_OPTIMIZER && step_near(classifier, near, -1, &near) == PHASE_BACKWARD)
        return near;
    return NO_RUN;
}

/* True for operators that sum over elements. No vector of weights is made by one: weights are
 * joined or computed each by itself. But embeddings of a graph, as large as all tables, are. */
static bool is_reduced(const struct classifier *classifier, const struct evidence *evidence)
{
    static const char *const names[] = {"aten::mean",  "aten::sum",        "aten::mm",
                                        "aten::addmm", "aten::_sparse_mm", "aten::bmm"};
    return text_is_one_of(
        symbols_text(site_table_symbols(classifier->sites), evidence->birth->site.op), names,
        sizeof(names) / sizeof(names[0]));
}

/* Without stacks, a batch may be as large as some of the weights by chance. */
bool is_flat_weight(const struct classifier *classifier, const struct evidence *evidence)
{
    uint64_t size = evidence_size(classifier, evidence);
    const struct size_tally *tally = size_tallies_find(&classifier->tallies, size);
    if (is_reduced(classifier, evidence) || plain_is_of_module(classifier, evidence))
        return false;
    if (tally && tally->is_vector)
        return true;
    uint32_t pass = pass_before_step(classifier, evidence);
    if (pass == NO_RUN)
        return false;
    uint32_t parts = count_parts(classifier, size, pass);
    bool are_enough = classifier->phases->has_stacks || parts == classifier->left.count ||
                      has_stepped_since(classifier, evidence, pass);
    return (tally && tally->is_flat) || (parts > 0 && are_enough);
}
