/* The measures of FairScale's graphs from a layer trace or from MemoryTracker's curves, in as many
 * columns as a graph can show. */
#ifndef MEMSNAP_ANALYSIS_LAYERS_PANELS_H
#define MEMSNAP_ANALYSIS_LAYERS_PANELS_H

#include "analysis/layers/layers.h"
#include "model/operator_curves.h"

enum layer_panel_kind {
    PANEL_ALLOCATED,
    PANEL_ACTIVE, /* of MemoryTracker only; it has no others but allocated and reserved */
    PANEL_RESERVED,
    PANEL_ACTIVATIONS,       /* that a module makes; in backward, gradients */
    PANEL_CUMUL_ACTIVATIONS, /* their running sum over forward rows */
    PANEL_ALL_GATHERED,      /* by FSDP since the row before */
    PANEL_CUMUL_ALL_GATHERED,
    PANEL_PARAMS, /* items are modules here, in order of first appearance */
    LAYER_PANELS,
};

/* By FairScale's is_forward; items of unknown passes count as forward. */
enum layer_pass { PASS_FORWARD, PASS_BACKWARD, LAYER_PASSES };

/* Items are the rows of the trace in the order in which they ran. Column c has the items from
 * layer_column_first(c) up to the first of the next column, and the maximum of each pass. */
struct layer_panel {
    size_t items, columns;
    int64_t *bytes[LAYER_PASSES]; /* per column; -1 if it has no item of that pass */
    int64_t peak_bytes;           /* of all items; 0 if the panel has nothing to show */
    size_t peak_item;             /* the first that has it */
    enum layer_pass peak_pass;
    string_id peak_name; /* of its module or operator */
};

struct layer_panels {
    struct layer_panel panels[LAYER_PANELS];
    size_t items;            /* rows, or operators */
    size_t modules;          /* that ran; 0 if the items are operators */
    bool passes;             /* the passes of the items are known */
    struct symbols *symbols; /* the names; not owned */
};

/* `columns`, not 0, is the maximum per panel. False when out of memory. */
bool layer_panels_of_trace(struct layer_panels *panels, const struct layers_report *report,
                           size_t columns, struct error *err);
bool layer_panels_of_operators(struct layer_panels *panels, const struct operator_curves *curves,
                               size_t columns, struct error *err);
void layer_panels_release(struct layer_panels *panels);

static inline size_t layer_column_first(const struct layer_panel *panel, size_t column)
{
    return (size_t)((unsigned __int128)column * panel->items / panel->columns);
}

#endif
