/* Steps from marks: annotations, or stretches of one phase. */
#include "analysis/phase/steps_internal.h"

/* True if a forward pass overlaps items [begin, end). */
static bool forward_within(const struct steps_finder *finder, uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return false;
    const struct phases *phases = finder->phases;
    for (size_t run = phases_run_of(phases, begin);
         run < phases->count && phases->runs[run].first < end; run++)
        if (phases->runs[run].phase == PHASE_FORWARD)
            return true;
    return false;
}

/* True if the trace begins with the program, and the device has not begun to train by an item. The
 * optimizer step before it is then one of another device. */
static bool is_before_training(const struct steps_finder *finder, uint32_t item)
{
    const struct phases *phases = finder->phases;
    size_t run = 0;
    while (run < phases->count && phases->runs[run].phase <= PHASE_DATA)
        run++;
    return !finder->begins_cut && finder->timeline->preexisting_count == 0 && finder->has_forward &&
           run < phases->count && phases->runs[run].first >= item;
}

/* The item until which the passes before the end of a mark may lie. */
static uint32_t end_of_passes(const struct step_mark *mark)
{
    return mark->has_closure ? mark->end : mark->begin;
}

static bool add_step(struct steps_finder *finder, struct step step, struct error *err)
{
    struct steps *steps = finder->steps;
    if (!vec_grow((void **)&steps->items, &steps->capacity, steps->count + 1, sizeof(step),
                  steps->budget, err))
        return false;
    steps->items[steps->count++] = step;
    return true;
}

bool steps_of_profiler(struct steps_finder *finder, struct error *err)
{
    for (size_t i = 0; i < finder->marks.count; i++) {
        const struct step_mark *mark = &finder->marks.items[i];
        bool begins = mark->has_start && (mark->begin > 0 || !finder->begins_cut);
        bool ends = mark->has_end || i + 1 < finder->marks.count;
        ends = ends && (mark->end < finder->item_count || !finder->ends_cut);
        if (mark->begin < mark->end && !add_step(finder,
                                                 (struct step){.number = mark->number,
                                                               .first = mark->begin,
                                                               .last = mark->end - 1,
                                                               .complete = begins && ends},
                                                 err))
            return false;
    }
    return true;
}

bool steps_of_marks(struct steps_finder *finder, enum steps_source source, struct error *err)
{
    uint32_t first = 0;
    bool parted = source == STEPS_FORWARD || source == STEPS_REPEATS || !finder->has_forward;
    bool is_cut = false; /* the last iteration lacks some of its marks */
    size_t skipped = 0;
    while (source == STEPS_ANNOTATION && skipped < finder->marks.count &&
           is_before_training(finder, finder->marks.items[skipped].end))
        skipped++;
    for (size_t i = skipped; i < finder->marks.count; i++) {
        const struct step_mark *mark = &finder->marks.items[i];
        bool is_last = i + 1 == finder->marks.count;
        is_cut = mark->joins_next;
        if (is_cut ||
            (!is_last && !parted && !forward_within(finder, mark->end, end_of_passes(&mark[1]))))
            continue;
        bool begins = finder->steps->count > 0 ||
                      (!finder->begins_cut && (parted || forward_within(finder, 0, mark->end)));
        bool ends = mark->has_end && (mark->end < finder->item_count ||
                                      (!finder->ends_cut && finder->oom <= mark->begin));
        if (mark->end > first && !add_step(finder,
                                           (struct step){.number = (int64_t)finder->steps->count,
                                                         .first = first,
                                                         .last = mark->end - 1,
                                                         .complete = begins && ends},
                                           err))
            return false;
        first = mark->end > first ? mark->end : first;
    }
    finder->steps->one_optimizer_step = (source == STEPS_ANNOTATION || source == STEPS_OPTIMIZER) &&
                                        finder->steps->count == finder->marks.count - skipped;
    bool begun = source == STEPS_REPEATS
                     ? first < finder->item_count
                     : source != STEPS_FORWARD && forward_within(finder, first, finder->item_count);
    return !(begun || (is_cut && first < finder->item_count)) ||
           add_step(finder,
                    (struct step){.number = (int64_t)finder->steps->count,
                                  .first = first,
                                  .last = finder->item_count - 1},
                    err);
}
