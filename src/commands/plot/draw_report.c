#include "analysis/pool/segment_map.h"
#include "commands/plot/bands.h"
#include "commands/plot/snapshot.h"
#include "render/plot/report.h"

/* What the page refers to. */
struct parts {
    struct sampling sampling;
    struct bands bands;
    struct band_shapes shapes;
    struct segment_map map;
};

static bool write_report(const struct plot_job *job, const struct plot_snapshot *snapshot,
                         struct parts *parts, struct plot_timeline *timeline, struct error *err)
{
    const struct report_options *at = &job->options->report;
    bool is_dump = !at->at_given || at->at_end;
    const struct plot_look *look = &job->options->look;
    struct plot_subject subject = plot_snapshot_subject(snapshot, at);
    bool has_segments = plot_report_has_segments(look);
    if (has_segments && !segment_map_make(&parts->map, snapshot->timeline,
                                          is_dump ? MAP_DUMP : snapshot->report->at_item, err))
        return false;
    struct plot_segments segments = {.look = look,
                                     .subject = subject,
                                     .sites = snapshot->capture.sites,
                                     .map = &parts->map,
                                     .notes = job->notes,
                                     .is_dump = is_dump};
    if (has_segments)
        segments.margins = plot_report_segments(look);
    struct plot_report report = {.look = look,
                                 .subject = subject,
                                 .timeline = timeline,
                                 .segments = parts->map.segment_count > 0 ? &segments : NULL};
    return plot_report_write(&report, job->files, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct parts parts = {0};
    struct plot_timeline timeline = {.colour = job->options->colour,
                                     .sites = snapshot->capture.sites,
                                     .bands = &parts.bands,
                                     .shapes = &parts.shapes,
                                     .notes = job->notes};
    const struct plot_look *look = &job->options->look;
    bool ok =
        plot_snapshot_report(snapshot, &job->options->report, plot_report_sites(look), err) &&
        plot_snapshot_time(snapshot, job->options, plot_report_timeline(look, snapshot->report),
                           &parts.sampling, &timeline.time, err) &&
        plot_bands_make(&parts.bands, &parts.shapes, &timeline.time, job->options->bands, err) &&
        write_report(job, snapshot, &parts, &timeline, err);
    segment_map_release(&parts.map);
    band_shapes_release(&parts.shapes);
    bands_release(&parts.bands);
    sampling_release(&parts.sampling);
    return ok;
}

bool plot_draw_report(struct plot_job *job, struct error *err)
{
    return plot_snapshot_draw(job, draw, err);
}
