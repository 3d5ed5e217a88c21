/* The picture of several captures on one axis: the memory in use and reserved in each. */
#ifndef MEMSNAP_RENDER_PLOT_COMPARE_H
#define MEMSNAP_RENDER_PLOT_COMPARE_H

#include "analysis/curves/sampling.h"
#include "render/plot/kind.h"

#define PLOT_COMPARED 8 /* the most files; more could not be told apart */

/* One capture, in columns. Nothing is owned. */
struct plot_curve {
    const char *path;        /* raw bytes */
    size_t columns;          /* at least one */
    size_t unknown;          /* of the first of them `bytes` is not known */
    const double *edges;     /* columns + 1: events, microseconds, rows or operators */
    const int64_t *bytes;    /* in use: active, or allocated */
    const int64_t *reserved; /* -1: not known */
    int64_t peak_bytes;      /* maximum of `bytes`, and its column */
    size_t peak_column;
    uint64_t items;
};

struct plot_comparison {
    const struct plot_look *look;
    const struct plot_curve *curves;
    size_t count;       /* 1 to PLOT_COMPARED */
    bool time;          /* edges are microseconds */
    bool share;         /* the axis goes from 0 to 100 % of each */
    const char *items;  /* the unit of edges: "allocator event", "row", "operator" */
    const char *in_use; /* "active memory (requested sizes)", "allocated memory" */
};

#endif
