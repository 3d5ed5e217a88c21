#include "commands/analyze/curves.h"

#include <stdlib.h>

#include "render/layers/operator_curves.h"

#define OPERATORS 10 /* without --top */

static bool take_figures(const char *path, const struct curves_report *report,
                         struct file_figures *figures, struct error *err)
{
    const struct operator_curves *curves = report->curves;
    struct comparison_row *row = calloc(1, sizeof(*row));
    if (!row)
        return error_set(err, STATUS_LIMIT, "out of memory");
    *row = (struct comparison_row){.path = path, .no_device = true};
    if (curves->count > 0) {
        row->peak_bytes = curves->points[report->allocated].allocated;
        row->reserved_bytes = curves->points[report->reserved].reserved;
    }
    *figures = (struct file_figures){row, 1};
    return true;
}

bool analyze_curves(const struct analyze_job *job, struct input *input,
                    struct file_figures *figures, struct error *err)
{
    struct operator_curves *curves = operator_curves_load_input(input, err);
    if (!curves)
        return false;
    struct curves_report *report = curves_report_build(curves, err);
    const struct curves_analysis analysis = {
        .path = job->path,
        .report = report,
        .top = job->options->top_given ? job->options->report.top : OPERATORS,
    };
    bool ok = report && take_figures(job->path, report, figures, err);
    if (ok && !(job->options->json ? curves_json(job->page->out, &analysis)
                                   : curves_text(job->page, &analysis))) {
        free(figures->rows);
        *figures = (struct file_figures){0};
        ok = error_set(err, STATUS_LIMIT, "out of memory");
    }
    curves_report_destroy(report);
    operator_curves_destroy(curves);
    return ok;
}
