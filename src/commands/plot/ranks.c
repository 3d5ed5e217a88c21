/* Reads the captures and summaries of a run for a picture of its ranks. */
#include <stdlib.h>

#include "commands/plot/load.h"
#include "commands/summary/gather.h"
#include "commands/summary/report.h"

#define COLUMNS_KEPT 500 /* columns of each curve: twice as many as a picture shows */

struct drawing {
    const struct plot_kind *kind;
    const struct plot_job *job;
};

static bool draw(void *self, const struct ranks_report *report, struct error *err)
{
    const struct drawing *drawing = self;
    return drawing->kind->of_ranks(drawing->job, report, err);
}

bool plot_load_ranks(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err)
{
    struct gathering gathering;
    struct drawing drawing = {kind, job};
    const struct gather_options options = {.capture = load->options->capture,
                                           .rank_pattern = load->options->files.rank_pattern,
                                           .curves = true,
                                           .reduced = true,
                                           .columns = COLUMNS_KEPT,
                                           .first = load->is_open ? &load->opened : NULL};
    load->is_open = false;
    if (!gather(&gathering, load->inputs, &options, job->files[0], err))
        return false;
    load->failed = gathering_status(&gathering);
    bool ok = gathering.all.count > 0 && ranks_report_with(&gathering, draw, &drawing, err);
    load->told = gathering.all.count == 0;
    gathering_release(&gathering);
    return ok;
}
