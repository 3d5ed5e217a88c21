#include "analysis/oom/attempt.h"

#include <stdio.h>
#include <string.h>

#include "analysis/phase/births.h"

#define MUCH 10 /* one 10th of what is active: less is not told */

static bool belongs_to_attempt(enum category category)
{
    return category == CATEGORY_ACTIVATION || category == CATEGORY_AUTOGRAD_DETAIL ||
           category == CATEGORY_TEMPORARY || category == CATEGORY_UNKNOWN;
}

/* The bytes made in the items [first, failure) that are live at the item `now`. */
static int64_t held(const struct timeline *timeline, const struct categories *categories,
                    uint32_t first, uint32_t failure, uint32_t now)
{
    int64_t bytes = 0;
    for (size_t i = births_from(timeline, first);
         i < timeline->lifetime_count && timeline->lifetimes[i].alloc < failure; i++)
        if (belongs_to_attempt((enum category)categories->of_lifetime[i]) &&
            timeline->lifetimes[i].free_completed > now)
            bytes += (int64_t)trace_size(timeline->trace, timeline->lifetimes[i].alloc);
    return bytes;
}

/* True if the innermost lines of Python are the same, be they of a library or of the program. A
 * line of the program may also go on to something else after a failure. */
static bool same_python(struct site_table *sites, stack_id a, stack_id b)
{
    struct error err; /* without memory, the failures count as different */
    if (a == STACK_NONE || b == STACK_NONE)
        return false;
    const struct stack_facts *facts = site_stack_facts(sites, a, &err);
    frame_id frame = facts ? facts->site.any_python_frame : NO_FRAME;
    struct stack stack = symbols_stack_at(site_table_symbols(sites), a);
    if (frame == NO_FRAME || !(facts = site_stack_facts(sites, b, &err)) ||
        facts->site.any_python_frame == NO_FRAME)
        return false;
    struct stack other = symbols_stack_at(site_table_symbols(sites), b);
    return stack.frames[frame] == other.frames[facts->site.any_python_frame];
}

/* True if the same line of code asks again and nothing was allocated in between. The C++ functions
 * that the line calls may differ. */
static bool tries_again(const struct timeline *timeline, struct site_table *sites,
                        const struct oom_row *before, const struct oom_row *row)
{
    size_t next = births_from(timeline, (uint32_t)before->item + 1);
    bool is_same = row->stack == before->stack ||
                   (row->asker && before->asker && strcmp(row->asker, before->asker) == 0 &&
                    same_python(sites, row->stack, before->stack));
    return is_same &&
           (next == timeline->lifetime_count || timeline->lifetimes[next].alloc > row->item);
}

static void advise(struct oom_row *row, uint64_t event, enum unit unit)
{
    char size[UNITS_TEXT_SIZE], place[UNITS_TEXT_SIZE];
    units_bytes(size, row->attempt_bytes, unit);
    units_count(place, event);
    snprintf(row->next, sizeof(row->next),
             "%s of the live memory belong to an earlier attempt, which failed at event %s. Inside "
             "an except block, the exception's traceback holds them, and after it if a variable "
             "keeps the exception: try again after the block, without a reference to the exception "
             "or to variables of the attempt.",
             size, place);
}

/* A further try finds the same memory in use as the one before. */
static void take_over(struct oom_row *row, const struct oom_row *before, enum unit unit,
                      const struct timeline *timeline)
{
    row->attempt_bytes = before->attempt_bytes;
    row->attempt_item = before->attempt_item;
    if (row->attempt_bytes > 0)
        advise(row, (uint64_t)trace_file_event(timeline->trace, row->attempt_item), unit);
}

void oom_attempt_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                     const struct steps *steps, const struct categories *categories, enum unit unit)
{
    for (size_t i = 1; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        uint32_t failure = (uint32_t)ooms->items[i - 1].item;
        row->tries_again = tries_again(timeline, sites, &ooms->items[i - 1], row);
        if (row->tries_again) {
            take_over(row, &ooms->items[i - 1], unit, timeline);
            continue;
        }
        size_t step = steps_of(steps, failure);
        uint32_t first = step == NO_STEP ? 0 : steps->items[step].first;
        int64_t bytes = held(timeline, categories, first, failure, (uint32_t)row->item);
        if (bytes <= row->at.active_bytes / MUCH)
            continue;
        row->attempt_bytes = bytes;
        row->attempt_item = failure;
        advise(row, (uint64_t)trace_file_event(timeline->trace, failure), unit);
    }
}
