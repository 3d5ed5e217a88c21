/* Takes the steps of a capture, or of the summary of one, for their picture. */
#include "analysis/ranks/summarize.h"
#include "commands/cli/capture.h"
#include "commands/plot/load.h"

struct taken {
    struct summary *summary; /* of the only capture */
};

static bool take(void *self, struct summary *summary, struct text bin, struct error *err)
{
    struct taken *taken = self;
    (void)bin;
    if (taken->summary) {
        summary_destroy(summary);
        return error_set(err, STATUS_USAGE,
                         "the file has summaries of several captures; --kind ranks draws them");
    }
    taken->summary = summary;
    return true;
}

static bool summarize_capture(const struct plot_load *load, struct input *input,
                              struct summary **summary, struct error *err)
{
    struct capture capture;
    const struct capture_options *options = &load->options->capture;
    if (!capture_open_input(&capture, input, options, load->progress, err))
        return false;
    *summary = summary_create(options->max_memory, err);
    bool ok = *summary &&
              summarize(*summary, capture.timelines, capture.device_count, capture.sites, err);
    capture_close(&capture);
    return ok;
}

/* The device asked for, or the one with the highest peak of those that have steps. */
static const struct summary_device *find_device(const struct summary *summary, int64_t number)
{
    const struct summary_device *found = NULL;
    for (size_t i = 0; i < summary->device_count; i++) {
        const struct summary_device *device = &summary->devices[i];
        bool has_steps = device->step_list_count > 0;
        if (number != ALL_DEVICES && device->device != number)
            continue;
        if (!found || has_steps > (found->step_list_count > 0) ||
            (has_steps == (found->step_list_count > 0) && device->peak_bytes > found->peak_bytes))
            found = device;
    }
    return found;
}

bool plot_load_steps(struct plot_load *load, const struct plot_kind *kind,
                     const struct plot_job *job, struct error *err)
{
    struct input input;
    enum file_kind file;
    struct taken taken = {0};
    if (!plot_load_open(load, kind, &input, &file, err))
        return false;
    bool ok = file == KIND_SUMMARY ? summaries_load_input(&input, take, &taken, err)
                                   : summarize_capture(load, &input, &taken.summary, err);
    const struct summary_device *device =
        ok && taken.summary ? find_device(taken.summary, load->options->capture.device) : NULL;
    ok = ok && (device ? kind->of_steps(job, device, err)
                       : error_set(err, STATUS_BAD_INPUT,
                                   "nothing to plot: the file has no such device"));
    summary_destroy(taken.summary);
    return ok;
}
