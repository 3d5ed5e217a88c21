/* Reads the curves of summaries for a picture of several captures. */
#include <stdlib.h>
#include <string.h>

#include "commands/plot/several.h"
#include "model/summary.h"

struct taken {
    const struct plot_load *load;
    struct sampling *sampling;
    uint64_t events;
    size_t count; /* summaries in the file */
};

static const struct summary_device *find_device(const struct summary *summary, int64_t number)
{
    const struct summary_device *found = NULL;
    for (size_t i = 0; i < summary->device_count; i++) {
        const struct summary_device *device = &summary->devices[i];
        bool wanted = number == ALL_DEVICES ? device->curve.columns > 0 : device->device == number;
        if (wanted && (!found || device->peak_bytes > found->peak_bytes))
            found = device;
    }
    return found;
}

static bool copy_curve(const struct summary_device *device, struct sampling *sampling,
                       struct error *err)
{
    const struct summary_curve *curve = &device->curve;
    size_t count = (size_t)curve->columns, bytes = count * sizeof(*sampling->active);
    double end = (double)(curve->by_time ? (uint64_t)device->duration_us : device->events);
    *sampling = (struct sampling){.axis = curve->by_time ? AXIS_TIME : AXIS_EVENT,
                                  .count = count,
                                  .edges = malloc((count + 1) * sizeof(*sampling->edges)),
                                  .active = malloc(bytes),
                                  .reserved = malloc(bytes)};
    if (!sampling->edges || !sampling->active || !sampling->reserved)
        return error_out_of_memory(err); /* the caller releases it with the others */
    memcpy(sampling->active, curve->high, bytes);
    memcpy(sampling->reserved, curve->reserved, bytes);
    for (size_t c = 0; c <= count; c++)
        sampling->edges[c] = end * (double)c / (double)count;
    return true;
}

/* The axis must be that of the picture. */
static bool check_axis(const struct taken *taken, const struct summary_curve *curve,
                       struct error *err)
{
    const struct plot_request *request = &taken->load->options->request;
    if (request->share || curve->by_time == (request->axis == AXIS_TIME))
        return true;
    return curve->by_time
               ? error_set(err, STATUS_USAGE, "the summary has its curve over time: add --x time")
               : error_set(err, STATUS_USAGE,
                           "the summary has its curve over events: remove --x time");
}

static bool take(void *self, struct summary *summary, struct text bin, struct error *err)
{
    struct taken *taken = self;
    const struct summary_device *device =
        find_device(summary, taken->load->options->capture.device);
    (void)bin;
    bool ok = (taken->count++ == 0 ||
               error_set(err, STATUS_USAGE,
                         "the file has summaries of several captures; --kind ranks draws them")) &&
              (device || error_set(err, STATUS_BAD_INPUT,
                                   "nothing to plot: the summary has no curve of a device")) &&
              device->curve.columns > 0 && check_axis(taken, &device->curve, err) &&
              copy_curve(device, taken->sampling, err);
    if (ok)
        taken->events = device->events;
    summary_destroy(summary);
    return ok;
}

bool plot_summary_read(const struct plot_load *load, struct input *input, struct sampling *sampling,
                       uint64_t *events, struct error *err)
{
    struct taken taken = {.load = load, .sampling = sampling};
    if (!summaries_load_input(input, take, &taken, err))
        return false;
    *events = taken.events;
    return taken.count > 0 ||
           error_set(err, STATUS_BAD_INPUT, "nothing to plot: the file has no summary");
}
