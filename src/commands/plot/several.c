#include "commands/plot/load.h"

#include <stdlib.h>

#include "commands/cli/capture.h"
#include "commands/plot/panels.h"
#include "commands/plot/several.h"
#include "render/plot/compare.h"
#include "render/plot/time.h"

/* The captures. Each curve points into its sampling. */
struct compared {
    enum file_kind file;
    struct plot_curve curves[PLOT_COMPARED];
    struct sampling samplings[PLOT_COMPARED];
    size_t count;
};

static void refer(struct plot_curve *curve, const struct sampling *sampling, const char *path,
                  uint64_t items)
{
    size_t peak = plot_time_peak_column(sampling);
    *curve = (struct plot_curve){.path = path,
                                 .columns = sampling->count,
                                 .unknown = sampling->unknown,
                                 .edges = sampling->edges,
                                 .bytes = sampling->active,
                                 .reserved = sampling->reserved,
                                 .peak_bytes = sampling->active[peak],
                                 .peak_column = peak,
                                 .items = items};
}

static bool take_snapshot(const struct plot_load *load, struct input *input,
                          struct compared *compared, struct error *err)
{
    struct capture capture;
    const struct plot_options *options = load->options;
    if (!capture_open_input(&capture, input, &options->capture, load->progress, err))
        return false;
    const struct timeline *timeline = capture_highest(&capture);
    size_t k = compared->count;
    bool ok = timeline
                  ? sampling_make(&compared->samplings[k], timeline, options->request.axis,
                                  PLOT_COLUMNS, err)
                  : error_set(err, STATUS_BAD_INPUT, "nothing to plot: the file has no device");
    if (ok) {
        refer(&compared->curves[k], &compared->samplings[k], load->inputs->paths[k],
              timeline->trace->count);
        compared->count++;
    }
    capture_close(&capture);
    return ok;
}

/* Converts panels to a sampling of the memory allocated and reserved after each row. */
static bool take_panels(const struct plot_load *load, struct layer_panels *panels,
                        struct compared *compared, struct error *err)
{
    const struct layer_panel *allocated = &panels->panels[PANEL_ALLOCATED];
    const struct layer_panel *reserved = &panels->panels[PANEL_RESERVED];
    size_t k = compared->count, count = allocated->columns;
    struct sampling *sampling = &compared->samplings[k];
    if (count == 0)
        return error_set(err, STATUS_BAD_INPUT, "nothing to plot: the trace is empty");
    *sampling = (struct sampling){.axis = AXIS_EVENT,
                                  .count = count,
                                  .edges = malloc((count + 1) * sizeof(*sampling->edges)),
                                  .active = malloc(count * sizeof(*sampling->active)),
                                  .reserved = malloc(count * sizeof(*sampling->reserved))};
    if (!sampling->edges || !sampling->active || !sampling->reserved)
        return error_out_of_memory(err); /* the caller releases it with the others */
    for (size_t c = 0; c < count; c++) {
        const int64_t *const *a = (const int64_t *const *)allocated->bytes;
        const int64_t *const *r = (const int64_t *const *)reserved->bytes;
        sampling->active[c] = a[0][c] > a[1][c] ? a[0][c] : a[1][c];
        sampling->reserved[c] = r[0][c] > r[1][c] ? r[0][c] : r[1][c];
        sampling->edges[c] = (double)layer_column_first(allocated, c);
    }
    sampling->edges[count] = (double)allocated->items;
    refer(&compared->curves[k], sampling, load->inputs->paths[k], allocated->items);
    compared->count++;
    return true;
}

static bool take_layers(const struct plot_load *load, struct input *input, enum file_kind file,
                        struct compared *compared, struct error *err)
{
    struct plot_panels made;
    bool ok = plot_panels_open(&made, input, file, PLOT_COLUMNS, err) &&
              take_panels(load, &made.panels, compared, err);
    plot_panels_close(&made);
    return ok;
}

static bool take_summary(const struct plot_load *load, struct input *input,
                         struct compared *compared, struct error *err)
{
    size_t k = compared->count;
    uint64_t events;
    if (!plot_summary_read(load, input, &compared->samplings[k], &events, err))
        return false;
    refer(&compared->curves[k], &compared->samplings[k], load->inputs->paths[k], events);
    compared->count++;
    return true;
}

static bool take(struct plot_load *load, const struct plot_kind *kind, struct compared *compared,
                 struct error *err)
{
    struct input input;
    enum file_kind file;
    if (!plot_load_open(load, kind, &input, &file, err))
        return false;
    bool is_summary = file == KIND_SUMMARY;
    if (kind_is_snapshot(file) || is_summary)
        file = KIND_SNAPSHOT; /* profiler traces and summaries are comparable with snapshots */
    if (load->input == 0)
        compared->file = file;
    if (file != compared->file && file != KIND_UNKNOWN) {
        input_discard(&input);
        return error_set(err, STATUS_USAGE,
                         "the file is %s, but the first file is %s: all files must be of one kind",
                         kind_name(file), kind_name(compared->file));
    }
    if (is_summary)
        return take_summary(load, &input, compared, err);
    if (file == KIND_LAYER_TRACE || file == KIND_OPERATOR_CURVES)
        return take_layers(load, &input, file, compared, err);
    return take_snapshot(load, &input, compared, err); /* has the best error for unknown files */
}

static bool draw(const struct plot_kind *kind, const struct plot_job *job,
                 const struct compared *compared, struct error *err)
{
    bool is_snapshot = compared->file == KIND_SNAPSHOT || compared->file == KIND_UNKNOWN;
    const struct plot_comparison comparison = {
        .look = &job->request->look,
        .curves = compared->curves,
        .count = compared->count,
        .time = job->request->axis == AXIS_TIME,
        .share = job->request->share,
        .items = is_snapshot                          ? "allocator event"
                 : compared->file == KIND_LAYER_TRACE ? "row of the layer trace"
                                                      : "operator",
        .in_use = is_snapshot ? "active memory (requested sizes)" : "allocated memory",
    };
    return kind->of_several(job, &comparison, err);
}

bool plot_load_several(struct plot_load *load, const struct plot_kind *kind,
                       const struct plot_job *job, struct error *err)
{
    struct compared compared = {0};
    bool ok = (load->inputs->count >= 2 && load->inputs->count <= PLOT_COMPARED) ||
              error_set(err, STATUS_USAGE, "--kind %s needs 2 to %d files, not %zu", kind->name,
                        PLOT_COMPARED, load->inputs->count);
    for (; ok && load->input < load->inputs->count; load->input++)
        if (!(ok = take(load, kind, &compared, err)))
            break;
    ok = ok && draw(kind, job, &compared, err);
    for (size_t k = 0; k < PLOT_COMPARED; k++)
        sampling_release(&compared.samplings[k]);
    return ok;
}
