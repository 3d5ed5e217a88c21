#include "commands/plot/page.h"

#include "commands/cli/files.h"
#include "commands/cli/watch.h"
#include "commands/plot/load.h"
#include "render/page/html.h"
#include "render/plot/snapshot.h"

/* The parts of the page; the struct owns them. */
struct parts {
    struct sampling sampling, still;
    struct bands bands;
    struct category_curves curves;
};

static bool make(struct parts *parts, const struct plot_request *request,
                 const struct plot_snapshot *snapshot, struct error *err)
{
    const struct timeline *timeline = snapshot->timeline;
    size_t wanted = request->bands > 0 ? request->bands : HTML_BANDS;
    return sampling_make(&parts->sampling, timeline, AXIS_EVENT, HTML_COLUMNS, err) &&
           sampling_make(&parts->still, timeline, request->axis, HTML_STILL, err) &&
           bands_choose(&parts->bands, timeline, &parts->sampling, wanted, err) &&
           category_curves_make(&parts->curves, timeline, snapshot->categories, &parts->still, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct plot_request *request = job->request;
    if (!plot_snapshot_categories(snapshot, err))
        return false;
    struct parts parts = {0};
    struct html_page page = {.title = request->look.title,
                             .by_time = request->axis == AXIS_TIME,
                             .colour = plot_colours[request->colour],
                             .timeline = snapshot->timeline,
                             .sites = snapshot->sites,
                             .categories = snapshot->categories,
                             .phases = snapshot->rows,
                             .sampling = &parts.sampling,
                             .bands = &parts.bands,
                             .still = &parts.still,
                             .curves = &parts.curves};
    bool ok = make(&parts, request, snapshot, err) && html_write(&page, job->files[0], err);
    category_curves_release(&parts.curves);
    bands_release(&parts.bands);
    sampling_release(&parts.still);
    sampling_release(&parts.sampling);
    return ok;
}

static bool write_page(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    static const struct plot_kind page = {
        .name = "timeline", .places_templates = true, .of_snapshot = draw};
    const struct plot_options *options = self;
    struct watch watch;
    watch_begin(&watch, 1, out);
    struct load_progress progress = {.update = watch_update, .self = &watch};
    struct plot_load load = {.options = options, .inputs = inputs, .progress = &progress};
    struct plot_job job = {.request = &options->request, .files = {out}};
    bool ok = plot_load_draw(&load, &page, &job, err);
    watch_end(&watch);
    return ok;
}

enum status plot_page(const struct plot_options *options, struct inputs *inputs)
{
    return files_write(options->out, inputs, write_page, options);
}
