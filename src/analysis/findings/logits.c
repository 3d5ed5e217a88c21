#include "analysis/findings/failed_requests.h"
#include "analysis/findings/logits_internal.h"

#include <string.h>

#define FEW_CLASSES  8    /* a loss for each position is that many times smaller than its logits */
#define MANY_CLASSES 1024 /* what is that many times smaller is no result of a layer */

/* Marks what lies between the layer that made the logits and lifetime `end`, after their softmax.
 * Nothing is marked if there is no such layer. */
static bool mark_softmax(struct logits_finder *finder, size_t softmax, size_t end,
                         struct error *err)
{
    const struct logits_request request = {softmax, finder->timeline->lifetimes[softmax].alloc,
                                           logits_size_of(finder, softmax)};
    size_t layer;
    if (!logits_mark_forward(finder, &request, end, &layer, err))
        return false;
    if (layer != LOGITS_NONE) {
        finder->latest = softmax;
        finder->whole = logits_size_of(finder, layer);
    }
    finder->in_loss = finder->of_latest = layer != LOGITS_NONE;
    finder->unseen = layer != LOGITS_NONE ? LOGITS_BEFORE : 0;
    finder->has_gradient = false;
    return true;
}

/* True for a tensor as large as the latest softmax, or as the logits that a part was taken from for
 * it, which another loss may read whole. */
static bool fits_latest(const struct logits_finder *finder, size_t index)
{
    uint64_t size = logits_size_of(finder, index);
    return logits_fit(size, logits_size_of(finder, finder->latest)) ||
           logits_fit(size, finder->whole);
}

/* True for the results of cross_entropy() beside that of log_softmax: Python frames name both
 * alike.
 */
static bool is_loss_of_latest(const struct logits_finder *finder, size_t index)
{
    return finder->of_latest &&
           logits_stack_of(finder, index) == logits_stack_of(finder, finder->latest) &&
           logits_size_of(finder, index) < logits_size_of(finder, finder->latest) / FEW_CLASSES;
}

/* Looks at an allocation without frames. The backward pass of a loss begins with gradients as large
 * as the logits. The next large one is the gradient of what the layer read. */
static void look_at_unseen(struct logits_finder *finder, size_t index)
{
    finder->in_loss = finder->of_latest = false;
    if (finder->unseen == 0)
        return;
    uint64_t size = logits_size_of(finder, index);
    bool fits = fits_latest(finder, index);
    bool ends = !fits && finder->has_gradient &&
                size > logits_size_of(finder, finder->latest) / MANY_CLASSES;
    finder->logits->is_part[index] = fits;
    finder->has_gradient = finder->has_gradient || fits;
    finder->unseen = ends ? 0 : finder->unseen - !fits;
}

/* Looks at the next allocation. A softmax may be that of attention, whose result a matrix product
 * takes, so only the last one before the backward pass is that of a loss. */
static bool look_at(struct logits_finder *finder, size_t index, struct error *err)
{
    enum logits_part part;
    if (!logits_part_of(finder->sites, logits_stack_of(finder, index), &part, err))
        return false;
    switch (part) {
    case LOGITS_LAYER:
        finder->softmax = LOGITS_NONE;
        finder->in_loss = finder->of_latest = false;
        finder->unseen = 0;
        return true;
    case LOGITS_SOFTMAX:
        finder->softmax = index;
        break;
    case LOGITS_LOG_SOFTMAX:
        finder->softmax = LOGITS_NONE;
        if (!is_loss_of_latest(finder, index))
            return mark_softmax(finder, index, index + 1, err);
        /* fall through */
    case LOGITS_LOSS:
        finder->in_loss = false; /* a penalty on the weights may follow */
        break;
    case LOGITS_UNSEEN:
        if (finder->softmax != LOGITS_NONE && !mark_softmax(finder, finder->softmax, index, err))
            return false;
        finder->softmax = LOGITS_NONE;
        look_at_unseen(finder, index);
        return true;
    case LOGITS_LOSS_BACKWARD:
        finder->in_loss = finder->latest != LOGITS_NONE;
        /* fall through */
    case LOGITS_LAYER_BACKWARD:
    case LOGITS_BACKWARD:
        if (finder->softmax != LOGITS_NONE && !mark_softmax(finder, finder->softmax, index, err))
            return false;
        finder->softmax = LOGITS_NONE;
        finder->of_latest = false;
        finder->in_loss = finder->in_loss && part != LOGITS_LAYER_BACKWARD;
        break;
    default:
        break;
    }
    bool is_loss = part == LOGITS_LOSS_BACKWARD || (finder->in_loss && part != LOGITS_OTHER);
    if (finder->latest != LOGITS_NONE && is_loss)
        finder->logits->is_part[index] = fits_latest(finder, index);
    return true;
}

bool logits_find(struct logits *logits, const struct timeline *timeline, struct site_table *sites,
                 struct error *err)
{
    struct logits made = {.budget = timeline->snapshot->budget};
    struct logits_finder finder = {.timeline = timeline,
                                   .sites = sites,
                                   .logits = &made,
                                   .softmax = LOGITS_NONE,
                                   .latest = LOGITS_NONE};
    if (!vec_reserve(made.is_part, made.capacity, timeline->lifetime_count + 1, made.budget, err))
        return false;
    memset(made.is_part, 0, timeline->lifetime_count + 1);
    bool ok = true;
    for (size_t i = 0; ok && i < timeline->lifetime_count; i++)
        ok = look_at(&finder, i, err);
    if (!ok || !logits_find_failed(&finder, err)) {
        logits_release(&made);
        return false;
    }
    *logits = made;
    return true;
}

void logits_mark_ooms(const struct logits *logits, struct ooms *ooms)
{
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        row->of_logits = failed_request_counts(row, logits->failed, logits->failed_count);
    }
}

void logits_release(struct logits *logits)
{
    vec_free(logits->is_part, logits->capacity, sizeof(*logits->is_part), logits->budget);
    *logits = (struct logits){0};
}
