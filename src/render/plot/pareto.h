/* The picture of a front: memory against extra compute, and what others suggest. */
#ifndef MEMSNAP_RENDER_PLOT_PARETO_H
#define MEMSNAP_RENDER_PLOT_PARETO_H

#include "render/plot/plot.h"
#include "solve/advice/advice.h"

/* Nothing is owned. */
struct plot_pareto {
    const struct plot_look *look;
    const struct problem *problem;
    const struct front_advice *advice;
};

enum {
    PARETO_SCRIPT,
    PARETO_FRONT,
    PARETO_LABELS,
};
#define PLOT_PARETO_FILES "plot.gp", "front.tsv", "labels.tsv"

/* Writes the settings to the script, and the data files. */
void plot_pareto_write(const struct plot_pareto *plot, FILE *const files[]);

#endif
