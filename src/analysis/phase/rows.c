#include "analysis/phase/rows.h"

#include "model/curve_cursor.h"

static void measure(struct phase_rows *rows, const struct timeline *timeline)
{
    struct curve_cursor cursor = curve_cursor_begin(timeline);
    for (size_t i = 0; i < rows->count; i++) {
        struct phase_row *row = &rows->items[i];
        for (uint32_t item = row->first; item <= row->last; item++) {
            int64_t active = curve_cursor_step(&cursor);
            if (item == row->first || active > row->peak_bytes) {
                row->peak_bytes = active;
                row->peak_item = item;
            }
        }
    }
}

static bool add_rows(struct phase_rows *rows, const struct timeline *timeline,
                     const struct phases *phases, const struct steps *steps, struct error *err)
{
    if (!vec_reserve(rows->items, rows->capacity, phases->count, rows->budget, err))
        return false;
    for (size_t run = 0; run < phases->count; run++) {
        uint32_t first = phases->runs[run].first;
        size_t step = steps_of(steps, first);
        rows->items[rows->count++] = (struct phase_row){
            .phase = (enum phase)phases->runs[run].phase,
            .inferred = phases->runs[run].evidence >= PHASE_BY_LIFETIMES,
            .step = step == NO_STEP ? -1 : steps->items[step].number,
            .first = first,
            .last = phases_run_end(phases, run, timeline->trace->count) - 1,
        };
    }
    return true;
}

bool phase_rows_make(struct phase_rows *rows, const struct timeline *timeline,
                     const struct phases *phases, const struct steps *steps, struct error *err)
{
    struct phase_rows made = {.budget = timeline->snapshot->budget};
    if (!phases->any_step) {
        *rows = made;
        return true;
    }
    if (!add_rows(&made, timeline, phases, steps, err)) {
        phase_rows_release(&made);
        return false;
    }
    measure(&made, timeline);
    *rows = made;
    return true;
}

void phase_rows_release(struct phase_rows *rows)
{
    vec_free(rows->items, rows->capacity, sizeof(*rows->items), rows->budget);
    *rows = (struct phase_rows){0};
}
