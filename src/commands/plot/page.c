#include "commands/plot/page.h"

#include "commands/cli/files.h"
#include "commands/cli/watch.h"
#include "commands/plot/snapshot.h"
#include "render/page/html.h"

/* What a page refers to. */
struct parts {
    struct sampling sampling, still;
    struct bands bands;
    struct category_curves curves;
};

static bool make(struct parts *parts, const struct plot_options *options,
                 const struct plot_snapshot *snapshot, struct error *err)
{
    const struct timeline *timeline = snapshot->timeline;
    size_t wanted = options->bands > 0 ? options->bands : HTML_BANDS;
    return sampling_make(&parts->sampling, timeline, AXIS_EVENT, HTML_COLUMNS, err) &&
           sampling_make(&parts->still, timeline, options->axis, HTML_STILL, err) &&
           bands_choose(&parts->bands, timeline, &parts->sampling, wanted, err) &&
           category_curves_make(&parts->curves, timeline, snapshot->categories, &parts->still, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct plot_options *options = job->options;
    if (!plot_snapshot_categories(snapshot, err))
        return false;
    struct parts parts = {0};
    struct html_page page = {.title = options->look.title,
                             .by_time = options->axis == AXIS_TIME,
                             .colour = plot_colours[options->colour],
                             .timeline = snapshot->timeline,
                             .sites = snapshot->capture.sites,
                             .categories = snapshot->categories,
                             .phases = snapshot->rows,
                             .sampling = &parts.sampling,
                             .bands = &parts.bands,
                             .still = &parts.still,
                             .curves = &parts.curves};
    bool ok = make(&parts, options, snapshot, err) && html_write(&page, job->files[0], err);
    category_curves_release(&parts.curves);
    bands_release(&parts.bands);
    sampling_release(&parts.still);
    sampling_release(&parts.sampling);
    return ok;
}

static bool write_page(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    struct watch watch;
    watch_begin(&watch, 1, out);
    struct load_progress progress = {.update = watch_update, .self = &watch};
    struct plot_job job = {
        .options = self, .inputs = inputs, .progress = &progress, .files = {out}};
    bool ok = plot_snapshot_draw(&job, draw, err);
    watch_end(&watch);
    return ok;
}

enum status plot_page(const struct plot_options *options, struct inputs *inputs)
{
    return files_write(options->out, inputs, write_page, options);
}
