/* Rules about growth from step to step. */
#include "analysis/check/internal.h"

/* Version 1 of summaries does not tell which steps are complete; at most the first and the last are
 * not. */
static bool summary_has_steps(const struct summary_device *device)
{
    struct summary_step_figures figures;
    if (!*device->steps_from)
        return device->steps >= GROWTH_LEAST + 2;
    summary_measure_steps(device, &figures);
    return figures.complete >= GROWTH_LEAST;
}

static void require_steps(struct judge *judge)
{
    bool has_steps = judge->capture == CHECK_OF_SUMMARY
                         ? summary_has_steps(judge->summary)
                         : judge->at->growth.compared >= GROWTH_LEAST;
    if (!has_steps)
        judge->not_judged = "the trace has fewer than 3 complete steps";
}

bool check_judge_growth(struct judge *judge, struct check_row *row)
{
    require_steps(judge);
    row->value = judge->capture == CHECK_OF_SUMMARY ? judge->summary->growth_bytes
                                                    : growth_leaking_bytes(&judge->at->growth);
    return true;
}

bool check_judge_leaks(struct judge *judge, struct check_row *row)
{
    require_steps(judge);
    row->value = (int64_t)(judge->at->growth.growing - judge->at->growth.in_use);
    return true;
}

/* Bytes a step of all growing call sites in the line of code of `row`. */
static int64_t growth_of_line(const struct judge *judge, const struct growth_row *row)
{
    const struct growth *growth = &judge->at->growth;
    const struct site_table *sites = judge->question->sites;
    frame_id wanted, frame;
    int64_t bytes = 0;
    if (!site_frame(sites, row->stack, &row->site, &wanted))
        return row->fit.bytes_per_step;
    for (size_t i = 0; i < growth->row_count; i++)
        if (growth->rows[i].fit.kind == GROWTH_GROWING &&
            site_frame(sites, growth->rows[i].stack, &growth->rows[i].site, &frame) &&
            frame == wanted &&
            __builtin_add_overflow(bytes, growth->rows[i].fit.bytes_per_step, &bytes))
            bytes = INT64_MAX;
    return bytes;
}

/* Names the growth that is no leak, if no advice names the cause. */
static bool add_excuse(const struct judge *judge, struct check_row *row)
{
    if (row->passed || row->why || row->next || judge->at->growth.graph == GRAPH_KEPT)
        return true;
    return check_copy_words(&row->next,
                            "A pool of limited size that is not full yet grows, too: record until "
                            "it is full.",
                            judge->err);
}

bool check_blame_growth(struct judge *judge, struct check_row *row)
{
    const struct growth *growth = &judge->at->growth;
    if (growth->growing > 0 && growth->row_count > 0) {
        const struct growth_row *most = &growth->rows[growth_holder(growth)];
        if (!check_blame_stack(judge, most->stack, &most->site, most->label.full,
                               growth_of_line(judge, most), row))
            return false;
    }
    return check_advise(judge, judge->peak, FINDING_GROWTH, row) && add_excuse(judge, row);
}
