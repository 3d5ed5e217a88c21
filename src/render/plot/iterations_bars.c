#include <stdlib.h>

#include "base/units.h"
#include "render/plot/iterations_internal.h"
#include "render/plot/svg_titles.h"

static int64_t known(int64_t number)
{
    return number < 0 ? 0 : number;
}

/* The first figure that the row has. */
static int64_t figure_of(const struct run_row *row, enum run_figure first, enum run_figure second)
{
    const int64_t *numbers = row->numbers[row->points[RUN_END] ? RUN_END : RUN_START];
    return known(numbers[first] != RUN_ABSENT ? numbers[first] : numbers[second]);
}

static struct iterations_bar bar_of(const struct run_row *row)
{
    return (struct iterations_bar){
        row,
        1,
        {[LAYER_END] = figure_of(row, RUN_ALLOCATED, RUN_ACTIVE),
         [LAYER_PEAK] = figure_of(row, RUN_ALLOCATED_PEAK, RUN_ACTIVE_PEAK),
         [LAYER_RESERVED] = figure_of(row, RUN_RESERVED_PEAK, RUN_RESERVED)}};
}

static int by_call(const void *left, const void *right)
{
    const struct run_row *a = *(const struct run_row *const *)left;
    const struct run_row *b = *(const struct run_row *const *)right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->iteration != b->iteration)
        return a->iteration < b->iteration ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static int64_t highest_of(const struct iterations_bar *bar)
{
    int64_t most = 0;
    for (size_t i = 0; i < LAYERS; i++)
        most = bar->bytes[i] > most ? bar->bytes[i] : most;
    return most;
}

static bool is_same_call(const struct run_row *a, const struct run_row *b)
{
    return a->function == b->function && a->iteration == b->iteration;
}

static void join(struct iterations_bar *into, const struct iterations_bar *bar)
{
    size_t count = into->count + 1;
    if (highest_of(bar) > highest_of(into))
        *into = *bar;
    into->count = count;
}

bool iterations_make_bars(struct iterations *plot, size_t most, struct error *err)
{
    const struct run_report *report = plot->report;
    const struct run_row **rows = calloc(report->row_count + 1, sizeof(*rows));
    plot->bars = calloc(most + 1, sizeof(*plot->bars));
    if (!rows || !plot->bars) {
        free(rows);
        return error_out_of_memory(err);
    }
    for (size_t i = 0; i < report->row_count; i++)
        rows[i] = &report->rows[i];
    qsort(rows, report->row_count, sizeof(*rows), by_call);
    for (size_t i = 0; i < report->row_count; i++)
        plot->calls += i == 0 || !is_same_call(rows[i - 1], rows[i]);
    bool by_rank = report->row_count <= most;
    size_t joined = (plot->calls + most - 1) / most, call = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        struct iterations_bar bar = bar_of(rows[i]);
        bool new_call = i > 0 && !is_same_call(rows[i - 1], rows[i]);
        call += new_call;
        if (i == 0 || by_rank || (new_call && call % joined == 0))
            plot->bars[plot->count++] = bar;
        else
            join(&plot->bars[plot->count - 1], &bar);
    }
    free(rows);
    for (size_t i = 0; i < plot->count; i++) {
        double high = (double)highest_of(&plot->bars[i]);
        plot->most = high > plot->most ? high : plot->most;
    }
    return true;
}

bool iterations_describe(const struct iterations *plot, const struct iterations_bar *bar,
                         struct buffer *out, struct error *err)
{
    static const struct {
        enum run_figure figure;
        const char *name;
    } figures[] = {
        {RUN_ALLOCATED, "allocated"},         {RUN_ALLOCATED_PEAK, "peak allocated"},
        {RUN_ACTIVE_PEAK, "peak active"},     {RUN_RESERVED, "reserved"},
        {RUN_RESERVED_PEAK, "peak reserved"},
    };
    struct text function = symbols_text(plot->report->run->symbols, bar->row->function);
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    buffer_clear(out);
    buffer_printf(out, "rank %u, ", bar->row->rank);
    buffer_add(out, function.bytes, function.size);
    buffer_printf(out, " %u", bar->row->iteration);
    svg_title_begin(out);
    if (bar->count > 1)
        buffer_printf(out, "\nthe highest of %zu", bar->count);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        int64_t start = bar->row->numbers[RUN_START][figures[i].figure];
        int64_t end = bar->row->numbers[RUN_END][figures[i].figure];
        if (start != RUN_ABSENT && end != RUN_ABSENT)
            buffer_printf(out, "\n%s %s, at the start %s", figures[i].name,
                          units_bytes(to, end, UNIT_AUTO), units_bytes(from, start, UNIT_AUTO));
        else if (end != RUN_ABSENT)
            buffer_printf(out, "\n%s %s", figures[i].name, units_bytes(to, end, UNIT_AUTO));
    }
    return !out->failed || error_out_of_memory(err);
}
