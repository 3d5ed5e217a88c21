#include "commands/cli/complain.h"
#include "commands/export/tables.h"

/* The sources of the rows of one device. */
struct parts {
    struct phases phases;
    struct steps steps;
    struct categories categories;
};

static bool make_parts(struct parts *parts, const struct timeline *timeline,
                       struct site_table *sites, struct error *err)
{
    return phases_build(&parts->phases, timeline, sites, err) &&
           steps_find(&parts->steps, timeline, &parts->phases, err) &&
           categories_assign(timeline, sites, &parts->phases, &parts->categories, err);
}

static bool choose_item(const struct when *when, const struct timeline *timeline, int64_t *item,
                        struct error *err)
{
    switch (when->kind) {
    case WHEN_PEAK:
        *item = timeline->active.peak_event;
        return true;
    case WHEN_POINT:
        return timeline_item_at(timeline, when->point, item, err);
    case WHEN_END:
        break;
    }
    *item = (int64_t)timeline->trace->count - 1;
    return true;
}

static bool put_device(const struct export_job *job, struct export_sheet *sheet,
                       const struct export_device *device, struct error *err)
{
    const struct export_options *options = job->options;
    const char *doubt = NULL;
    int64_t item;
    if (options->table == EXPORT_ALLOCATIONS)
        return export_allocations(sheet, device, err);
    if (!choose_item(&options->at, device->timeline, &item, err))
        return false;
    if (options->table == EXPORT_SITES)
        return export_sites(sheet, device, item, err);
    if (!export_layout(sheet, device, options->table, options->at.kind == WHEN_END, item, &doubt,
                       err))
        return false;
    if (doubt)
        complain("%s: device %u: the result is unreliable: %s", path_name(job->path),
                 device->timeline->device, doubt);
    return true;
}

static bool put_devices(const struct export_job *job, const struct capture *capture,
                        struct export_sheet *sheet, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        struct parts parts = {0};
        ok = make_parts(&parts, timeline, capture->sites, err) &&
             put_device(
                 job, sheet,
                 &(struct export_device){timeline, &parts.phases, &parts.steps, &parts.categories},
                 err);
        categories_release(&parts.categories);
        steps_release(&parts.steps);
        phases_release(&parts.phases);
    }
    return ok;
}

bool export_capture(const struct export_job *job, int fd, struct error *err)
{
    const struct export_options *options = job->options;
    struct capture capture;
    struct export_sheet sheet;
    if (!capture_open(&capture, fd, &options->capture, job->progress, err))
        return false;
    bool ok = export_begin(&sheet, job->out, options->format, options->table, capture.sites,
                           capture.snapshot->budget, err);
    if (ok) {
        ok = put_devices(job, &capture, &sheet, err) && export_end(&sheet, err);
        export_release(&sheet);
    }
    capture_close(&capture);
    return ok;
}
