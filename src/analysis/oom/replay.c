#include "analysis/oom/replay.h"

#include <stdio.h>
#include <string.h>

#include "analysis/oom/words.h"
#include "analysis/replay/figure.h"

#define EXPANDABLE "expandable_segments:True"

static void add(struct oom_row *row, const struct replay_figure *figure, enum unit unit)
{
    char bytes[UNITS_TEXT_SIZE], needed[UNITS_TEXT_SIZE];
    size_t size = strlen(row->next);
    snprintf(row->next + size, sizeof(row->next) - size,
             "; replayed with it, the trace and what failed fit: %s reserved instead of %s",
             units_bytes(bytes, (int64_t)figure->fitting_bytes, unit),
             units_bytes(needed, (int64_t)figure->needed_bytes, unit));
    row->setting_fits = true;
}

/* True if the request of an event fits, although others fail with the setting, too. Of those
 * between the first and the last that fail, nothing is known. */
static bool fits_alone(const struct oom_row *row, const struct replay_figure *figure)
{
    return figure->fits_some &&
           (row->item < figure->first_failed || row->item > figure->last_failed);
}

static void add_alone(struct oom_row *row, const struct replay_figure *figure)
{
    size_t size = strlen(row->next);
    snprintf(row->next + size, sizeof(row->next) - size,
             "; replayed with it, this request fits, but %s still fails",
             row->item > figure->last_failed ? "an earlier one" : "a later one");
}

/* True if `next` names blocks whose segments, once released, would leave enough for the request. */
static bool names_enough(const struct oom_row *row)
{
    uint64_t bytes;
    return oom_names_pinned(row) &&
           (__builtin_add_overflow(row->device_free_bytes, row->pinned.items[0].pinned_bytes,
                                   &bytes) ||
            bytes >= row->segment_bytes);
}

/* Takes back the advice to use the setting, which comes first. Keeps what follows it, unless that
 * would not help either. */
static void retract(struct oom_row *row)
{
    static const char useless[] =
        "; " EXPANDABLE " would not help: replayed with it, the trace runs out of memory, too";
    static const char smaller[] = "use a smaller batch or sequence";
    const char *rest = strstr(row->next, "; ");
    bool is_pinned = rest && oom_names_pinned(row), is_enough = names_enough(row);
    char next[sizeof(row->next)];
    snprintf(next, sizeof(next), "%s%s%s", rest && (!is_pinned || is_enough) ? rest + 2 : smaller,
             is_enough ? ": allocate them before the others, or copy them to the CPU" : "",
             useless);
    memcpy(row->next, next, sizeof(next));
}

bool oom_replay_add(struct ooms *ooms, const struct timeline *timeline, struct site_table *sites,
                    enum unit unit, struct error *err)
{
    struct replay_figure figure = {0};
    bool is_made = false;
    for (size_t i = 0; i < ooms->count; i++) {
        struct oom_row *row = &ooms->items[i];
        if (!strstr(row->next, EXPANDABLE))
            continue;
        if (!is_made && !replay_figure_make(timeline, sites, EXPANDABLE, &figure, err))
            return false;
        is_made = true;
        if (figure.is_known && figure.ran_out && figure.fits)
            add(row, &figure, unit);
        else if (figure.is_known && figure.ran_out && fits_alone(row, &figure))
            add_alone(row, &figure);
        else if (figure.is_known && figure.ran_out)
            retract(row);
    }
    return true;
}
