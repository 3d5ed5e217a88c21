#include "analysis/layers/panels.h"

#include <stdlib.h>
#include <string.h>

/* One value of a panel. */
struct sample {
    size_t item;
    enum layer_pass pass;
    int64_t bytes;
    string_id name;
};

static bool open_panel(struct layer_panel *panel, size_t items, size_t most, struct error *err)
{
    panel->items = items;
    panel->columns = items < most ? items : most;
    for (size_t pass = 0; pass < LAYER_PASSES; pass++) {
        panel->bytes[pass] = malloc((panel->columns + 1) * sizeof(*panel->bytes[pass]));
        if (!panel->bytes[pass])
            return error_out_of_memory(err);
        for (size_t c = 0; c < panel->columns; c++)
            panel->bytes[pass][c] = -1;
    }
    return true;
}

/* Items come in ascending order, so `column` only increases. */
static void put(struct layer_panel *panel, size_t *column, const struct sample *sample)
{
    while (layer_column_first(panel, *column + 1) <= sample->item)
        (*column)++;
    int64_t *bytes = &panel->bytes[sample->pass][*column];
    if (sample->bytes > *bytes)
        *bytes = sample->bytes;
    if (sample->bytes > panel->peak_bytes) {
        panel->peak_bytes = sample->bytes;
        panel->peak_item = sample->item;
        panel->peak_pass = sample->pass;
        panel->peak_name = sample->name;
    }
}

/* The value of a row in a panel; -1 if it has none. */
static int64_t value_of(const struct layer_row *row, enum layer_panel_kind kind, int64_t *sum)
{
    switch (kind) {
    case PANEL_ALLOCATED:
        return row->allocated;
    case PANEL_RESERVED:
        return row->reserved;
    case PANEL_ACTIVATIONS:
        return row->memory_activations;
    case PANEL_CUMUL_ACTIVATIONS:
        *sum += row->is_forward ? row->memory_activations : 0;
        return row->is_forward ? *sum : -1;
    case PANEL_ALL_GATHERED:
        return row->all_gathered;
    case PANEL_CUMUL_ALL_GATHERED:
        return row->is_forward ? row->cumul_all_gathered : -1;
    default:
        return -1;
    }
}

static void fill_rows(struct layer_panel *panel, enum layer_panel_kind kind,
                      const struct layer_trace *trace)
{
    size_t column = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        int64_t bytes = value_of(row, kind, &sum);
        if (bytes >= 0)
            put(panel, &column,
                &(struct sample){i, row->is_forward ? PASS_FORWARD : PASS_BACKWARD, bytes,
                                 row->module_name});
    }
}

static void fill_modules(struct layer_panel *panel, const struct layers_report *report)
{
    size_t column = 0;
    for (size_t i = 0; i < report->module_count; i++)
        put(panel, &column,
            &(struct sample){i, PASS_FORWARD, report->modules[i].params, report->modules[i].name});
}

bool layer_panels_of_trace(struct layer_panels *panels, const struct layers_report *report,
                           size_t columns, struct error *err)
{
    const struct layer_trace *trace = report->trace;
    struct layer_panels made = {.items = trace->count,
                                .modules = report->module_count,
                                .passes = true,
                                .symbols = trace->symbols};
    for (size_t kind = 0; kind < LAYER_PANELS; kind++) {
        struct layer_panel *panel = &made.panels[kind];
        size_t items = kind == PANEL_PARAMS ? report->module_count : trace->count;
        if (!open_panel(panel, items, columns, err)) {
            layer_panels_release(&made);
            return false;
        }
        if (kind == PANEL_PARAMS)
            fill_modules(panel, report);
        else
            fill_rows(panel, (enum layer_panel_kind)kind, trace);
    }
    *panels = made;
    return true;
}

/* The end of the forward pass by MemoryTracker's marker, or `count` without one. */
static size_t forward_end(const struct operator_curves *curves, bool *known)
{
    *known = false;
    for (size_t i = 0; i < curves->marker_count; i++) {
        struct text name = symbols_text(curves->symbols, curves->markers[i].name);
        *known = text_equals(name, "fw_bw_boundary");
        if (*known)
            return curves->markers[i].at;
    }
    return curves->count;
}

bool layer_panels_of_operators(struct layer_panels *panels, const struct operator_curves *curves,
                               size_t columns, struct error *err)
{
    static const enum layer_panel_kind kinds[] = {PANEL_ALLOCATED, PANEL_ACTIVE, PANEL_RESERVED};
    struct layer_panels made = {.items = curves->count, .symbols = curves->symbols};
    size_t boundary = forward_end(curves, &made.passes);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct layer_panel *panel = &made.panels[kinds[k]];
        size_t column = 0;
        if (!open_panel(panel, curves->count, columns, err)) {
            layer_panels_release(&made);
            return false;
        }
        for (size_t i = 0; i < curves->count; i++) {
            const struct operator_point *point = &curves->points[i];
            put(panel, &column,
                &(struct sample){i, i < boundary ? PASS_FORWARD : PASS_BACKWARD,
                                 kinds[k] == PANEL_ALLOCATED ? point->allocated
                                 : kinds[k] == PANEL_ACTIVE  ? point->active
                                                             : point->reserved,
                                 point->name});
        }
    }
    *panels = made;
    return true;
}

void layer_panels_release(struct layer_panels *panels)
{
    for (size_t kind = 0; kind < LAYER_PANELS; kind++)
        for (size_t pass = 0; pass < LAYER_PASSES; pass++)
            free(panels->panels[kind].bytes[pass]);
    *panels = (struct layer_panels){0};
}
