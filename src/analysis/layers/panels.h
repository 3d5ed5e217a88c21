/* What a layer trace, or MemoryTracker's curves, have of FairScale's graphs: the same measures, in
 * as many columns as a graph can show. */
#ifndef MEMSNAP_ANALYSIS_LAYERS_PANELS_H
#define MEMSNAP_ANALYSIS_LAYERS_PANELS_H

#include "analysis/layers/layers.h"
#include "model/operator_curves.h"

enum layer_panel_kind {
    PANEL_ALLOCATED,
    PANEL_ACTIVE, /* MemoryTracker's only, as the others but reserved are a layer trace's */
    PANEL_RESERVED,
    PANEL_ACTIVATIONS,       /* made by a module; backward: gradients */
    PANEL_CUMUL_ACTIVATIONS, /* the running sum of those of forward rows */
    PANEL_ALL_GATHERED,      /* by FSDP since the row before */
    PANEL_CUMUL_ALL_GATHERED,
    PANEL_PARAMS, /* an item is a module here, in order of first appearance */
    LAYER_PANELS,
};

/* FairScale's is_forward; what is known to be neither is in the first. */
enum layer_pass { PASS_FORWARD, PASS_BACKWARD, LAYER_PASSES };

/* Items are the rows of the trace, in the order in which they ran. Column c has the items from
 * layer_column_first(c) up to, but not including, that of the next, and the most of each pass. */
struct layer_panel {
    size_t items, columns;
    int64_t *bytes[LAYER_PASSES]; /* one a column; -1: no item of that pass in it */
    int64_t peak_bytes;           /* of all; 0 where the panel has nothing to show */
    size_t peak_item;             /* the first that has it */
    enum layer_pass peak_pass;
    string_id peak_name; /* of its module or operator */
};

struct layer_panels {
    struct layer_panel panels[LAYER_PANELS];
    size_t items;            /* rows, or operators */
    size_t modules;          /* that ran; 0: operators */
    bool passes;             /* it is known what is forward and what backward */
    struct symbols *symbols; /* the names; not owned */
};

/* `columns`, which is not 0, is the most of a panel. False: out of memory. */
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
