#include "commands/cli/capture.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "commands/cli/watch.h"
#include "model/device.h"

#define LISTED_DEVICES 8 /* devices that the error for a missing device lists */

static bool no_such_device(int64_t device, const uint32_t *devices, size_t count, struct error *err)
{
    struct buffer list = BUFFER_INIT;
    for (size_t i = 0; i < count && i < LISTED_DEVICES; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", DEVICE_NAME(devices[i]));
    if (count > LISTED_DEVICES)
        buffer_puts(&list, ", ...");
    error_set(err, STATUS_USAGE, "the file has no %s (devices: %.120s)",
              DEVICE_WORDS((uint32_t)device), list.size && !list.failed ? list.bytes : "none");
    buffer_release(&list);
    return false;
}

static bool build_timelines(struct capture *capture, const uint32_t *devices, size_t count,
                            struct error *err)
{
    capture->timelines = calloc(count ? count : 1, sizeof(capture->timelines[0]));
    if (!capture->timelines)
        return error_out_of_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct timeline *timeline = timeline_build(capture->snapshot, devices[i], err);
        if (!timeline)
            return false;
        capture->timelines[capture->device_count++] = timeline;
    }
    return true;
}

/* A GPU's memory and the host's are not alike, so most commands look at the host only on request,
 * or if nothing else was recorded (record_cuda=False). The host is the last device. */
static void choose_host(const struct snapshot *snapshot, const struct capture_options *options,
                        uint32_t *devices, size_t *count)
{
    bool recorded = false;
    if (options->with_host || *count < 2 || devices[*count - 1] != DEVICE_HOST)
        return;
    for (size_t i = 0; i < snapshot->trace_count; i++)
        recorded = recorded || snapshot->traces[i].file_events > 0;
    if (recorded || snapshot->host.file_events == 0 || options->gpus_only) {
        --*count;
    } else {
        devices[0] = DEVICE_HOST;
        *count = 1;
    }
}

/* Builds the timelines of the requested devices. */
static bool choose_devices(struct capture *capture, const struct capture_options *options,
                           struct error *err)
{
    int64_t device = options->device;
    uint32_t *devices;
    size_t count;
    if (!snapshot_devices(capture->snapshot, &devices, &count, err))
        return false;
    bool ok;
    if (device == ALL_DEVICES) {
        choose_host(capture->snapshot, options, devices, &count);
        ok = build_timelines(capture, devices, count, err);
    } else {
        size_t i = 0;
        while (i < count && devices[i] != device)
            i++;
        ok = i < count ? build_timelines(capture, devices + i, 1, err)
                       : no_such_device(device, devices, count, err);
    }
    free(devices);
    return ok;
}

bool capture_open_input(struct capture *capture, struct input *input,
                        const struct capture_options *options, const struct load_progress *progress,
                        struct error *err)
{
    struct load_options load_options = {.window = options->window,
                                        .file_order = options->file_order,
                                        .launches = options->launches,
                                        .ahead = true,
                                        .progress = progress};
    struct capture opened = {.snapshot = snapshot_load_input(input, &load_options, err)};
    if (opened.snapshot)
        opened.sites = site_table_create(opened.snapshot->symbols, err);
    if (opened.sites)
        site_table_set_rules(opened.sites, options->rules);
    if (opened.sites && choose_devices(&opened, options, err)) {
        *capture = opened;
        return true;
    }
    capture_close(&opened);
    return false;
}

bool capture_open(struct capture *capture, int fd, const struct capture_options *options,
                  const struct load_progress *progress, struct error *err)
{
    struct input input;
    return input_from_fd(&input, fd, options->max_memory, err) &&
           capture_open_input(capture, &input, options, progress, err);
}

/* A file of unknown kind is read as a snapshot, since that loader has the best error message. */
static bool open_snapshot(struct capture *capture, int fd, const struct capture_options *options,
                          const struct load_progress *progress, const char *lacks,
                          struct error *err)
{
    struct input input;
    if (!input_from_fd(&input, fd, options->max_memory, err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    if (!kind_is_snapshot(kind) && kind != KIND_UNKNOWN) {
        input_discard(&input);
        return error_set(err, STATUS_BAD_INPUT, "expected an allocator snapshot, not %s%s",
                         kind_name(kind), lacks);
    }
    return capture_open_input(capture, &input, options, progress, err);
}

bool capture_open_first(struct capture *capture, struct inputs *inputs,
                        const struct capture_options *options, FILE *out, const char *lacks,
                        struct error *err)
{
    struct watch watch;
    int fd;
    watch_begin(&watch, 1, out);
    const struct load_progress progress = {.update = watch_update, .self = &watch};
    bool ok = inputs_take(inputs, 0, &fd, err) &&
              open_snapshot(capture, fd, options, &progress, lacks, err);
    watch_end(&watch);
    return ok;
}

bool input_restrict(struct input *input, size_t limit, struct error *err)
{
    if (input->budget->used > limit)
        return error_set(err, STATUS_LIMIT, "the memory limit is too low for both files");
    input->budget->limit = limit;
    return true;
}

const struct timeline *capture_highest(const struct capture *capture)
{
    const struct timeline *highest = NULL;
    for (size_t i = 0; i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        if (!highest || timeline->active.peak_bytes > highest->active.peak_bytes)
            highest = timeline;
    }
    return highest;
}

void capture_close(struct capture *capture)
{
    for (size_t i = 0; i < capture->device_count; i++)
        timeline_destroy(capture->timelines[i]);
    free(capture->timelines);
    site_table_destroy(capture->sites);
    snapshot_destroy(capture->snapshot);
    *capture = (struct capture){0};
}
