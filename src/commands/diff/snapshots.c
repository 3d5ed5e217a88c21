#include <stdlib.h>

#include "commands/cli/watch.h"
#include "commands/diff/options.h"
#include "model/device.h"

/* One capture, reduced to sums. */
struct reduced {
    struct diff_side *devices; /* ascending by device */
    size_t count;
    struct input_line input;
};

/* A device of A and the device of B that it is compared with. */
struct pair {
    struct diff_side sides[2]; /* shallow copies: struct reduced owns the data */
    struct diff_side like[2];  /* the same, at the peaks of one phase */
    struct diff *diff;
    struct diff *like_diff; /* NULL: the peaks are alike, or the moments were given */
};

struct comparison {
    const struct diff_job *job;
    struct budget budget; /* for the sums of both captures */
    struct symbols *symbols;
    struct site_table *sites;
    struct reduced files[2];
    struct pair *pairs;
    struct diff_view *views;
    size_t pair_count;
    char remark[160];
};

static bool reduce(struct comparison *comparison, const struct capture *capture, unsigned side,
                   struct error *err)
{
    const struct snapshot *snapshot = capture->snapshot;
    struct reduced *file = &comparison->files[side];
    const struct report_options options = {.at = comparison->job->settings->at[side],
                                           .unit = comparison->job->settings->unit};
    file->input = (struct input_line){.path = comparison->job->paths[side],
                                      .bytes = snapshot->input_bytes,
                                      .encoding = snapshot->encoding,
                                      .protocol = snapshot->protocol,
                                      .compression = snapshot->compression,
                                      .lead = side ? "B: " : "A: "};
    if (capture->device_count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "the snapshot is empty: it has no segments and no events");
    file->devices = calloc(capture->device_count, sizeof(*file->devices));
    if (!file->devices)
        return error_out_of_memory(err);
    for (size_t i = 0; i < capture->device_count; i++) {
        if (!diff_side_make(&file->devices[i], capture->timelines[i], capture->sites, &options,
                            !comparison->job->settings->at_given, comparison->symbols,
                            &comparison->budget, err))
            return false;
        file->count++;
    }
    return true;
}

/* Reads one capture, and keeps only its sums. */
static bool read_side(struct comparison *comparison, struct input *input, unsigned side,
                      struct error *err)
{
    const struct diff_job *job = comparison->job;
    const struct load_progress progress = {watch_update, job->watch};
    struct capture_options options = job->settings->capture;
    struct capture capture;
    options.device = job->settings->devices[side];
    size_t limit = job->settings->capture.max_memory - comparison->budget.used;
    if (!input_restrict(input, limit, err)) {
        input_discard(input);
        return false;
    }
    if (!capture_open_input(&capture, input, &options, &progress, err))
        return false;
    comparison->budget.limit = comparison->budget.used + (limit - capture.snapshot->budget->used);
    bool ok = reduce(comparison, &capture, side, err);
    capture_close(&capture);
    comparison->budget.limit = job->settings->capture.max_memory;
    watch_input_done(job->watch);
    return ok;
}

/* Compares the peaks of the phase of the higher peak, where the peaks are in different phases: that
 * is where something grew or shrank. */
static bool compare_like(struct comparison *comparison, struct pair *pair,
                         const struct diff_options *options, struct error *err)
{
    const struct diff_side *a = &pair->sides[0], *b = &pair->sides[1];
    const struct diff_side *of_a = a->in_phase[b->phase], *of_b = b->in_phase[a->phase];
    struct diff_options like_options = *options;
    if (comparison->job->settings->at_given || a->phase <= PHASE_DATA || b->phase <= PHASE_DATA)
        return true;
    bool a_is_higher = a->at.active_bytes > b->at.active_bytes;
    if (!(a_is_higher ? of_b : of_a))
        return true;
    pair->like[0] = a_is_higher ? *a : *of_a;
    pair->like[1] = a_is_higher ? *of_b : *b;
    like_options.peaks = pair->sides;
    pair->like_diff =
        diff_build(pair->like, comparison->sites, &like_options, &comparison->budget, err);
    return pair->like_diff;
}

static bool add_pair(struct comparison *comparison, const struct diff_side *a,
                     const struct diff_side *b, struct error *err)
{
    const struct diff_settings *settings = comparison->job->settings;
    const struct diff_options options = {
        .top = settings->top,
        .unit = settings->unit,
        .by_end = settings->at[0].kind == WHEN_END && settings->at[1].kind == WHEN_END,
        .b_at = settings->at[1].kind == WHEN_PEAK ? NULL : settings->at_text[1],
        .stacks = settings->stacks != STACKS_NONE,
    };
    struct pair *pair = &comparison->pairs[comparison->pair_count];
    pair->sides[0] = *a;
    pair->sides[1] = *b;
    pair->diff = diff_build(pair->sides, comparison->sites, &options, &comparison->budget, err);
    comparison->pair_count += pair->diff != NULL;
    return pair->diff && compare_like(comparison, pair, &options, err);
}

static const struct diff_side *find_device(const struct reduced *file, uint32_t device)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->devices[i].device == device)
            return &file->devices[i];
    return NULL;
}

static const struct diff_side *fullest(const struct reduced *file)
{
    const struct diff_side *most = &file->devices[0];
    for (size_t i = 1; i < file->count; i++)
        if (file->devices[i].at.active_bytes > most->at.active_bytes)
            most = &file->devices[i];
    return most;
}

/* Pairs devices of the same number; without any, the device of each file that holds the most. */
static bool pair_devices(struct comparison *comparison, struct error *err)
{
    const struct reduced *a = &comparison->files[0], *b = &comparison->files[1];
    size_t most = a->count > b->count ? a->count : b->count, common = 0;
    comparison->pairs = calloc(most, sizeof(*comparison->pairs));
    comparison->views = calloc(most, sizeof(*comparison->views));
    if (!comparison->pairs || !comparison->views)
        return error_out_of_memory(err);
    bool chosen = comparison->job->settings->devices[0] != ALL_DEVICES;
    for (size_t i = 0; !chosen && i < a->count; i++) {
        const struct diff_side *other = find_device(b, a->devices[i].device);
        common += other != NULL;
        if (other && !add_pair(comparison, &a->devices[i], other, err))
            return false;
    }
    if (common == a->count && common == b->count)
        return true;
    if (common > 0) {
        snprintf(comparison->remark, sizeof(comparison->remark),
                 "A has %zu device%s and B %zu: only those are compared that both have. "
                 "--device N:M compares others.",
                 a->count, a->count == 1 ? "" : "s", b->count);
        return true;
    }
    if (!chosen)
        snprintf(comparison->remark, sizeof(comparison->remark),
                 "no device is in both: %s of A is compared with %s of B, which "
                 "hold the most. --device N:M compares others.",
                 DEVICE_WORDS(fullest(a)->device), DEVICE_WORDS(fullest(b)->device));
    return add_pair(comparison, fullest(a), fullest(b), err);
}

static int64_t larger(const struct diff_view *view)
{
    const struct diff_side *sides = view->diff->sides;
    return sides[0].at.active_bytes > sides[1].at.active_bytes ? sides[0].at.active_bytes
                                                               : sides[1].at.active_bytes;
}

static int fullest_first(const void *left, const void *right)
{
    const struct diff_view *a = left, *b = right;
    if (larger(a) != larger(b))
        return larger(a) > larger(b) ? -1 : 1;
    return (a->diff->sides[0].device > b->diff->sides[0].device) -
           (a->diff->sides[0].device < b->diff->sides[0].device);
}

static bool print(const struct diff_job *job, const struct diff_report *report, struct error *err)
{
    bool ok;
    switch (job->settings->format) {
    case DIFF_CSV:
        return diff_csv(job->page->out, report, err);
    case DIFF_JSON:
        ok = diff_json(job->page->out, report);
        break;
    default:
        ok = diff_text(job->page, report);
        break;
    }
    return ok || error_out_of_memory(err);
}

static bool report(struct comparison *comparison, struct error *err)
{
    const struct diff_job *job = comparison->job;
    if (!pair_devices(comparison, err))
        return false;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const struct pair *pair = &comparison->pairs[i];
        comparison->views[i] =
            (struct diff_view){pair->diff, pair->like_diff,
                               diff_limit_check(job->settings, pair->sides[0].at.active_bytes,
                                                pair->sides[1].at.active_bytes)};
        *job->exceeded = *job->exceeded || comparison->views[i].limit.exceeded;
    }
    qsort(comparison->views, comparison->pair_count, sizeof(*comparison->views), fullest_first);
    const struct diff_report report = {
        .inputs = {comparison->files[0].input, comparison->files[1].input},
        .at = {job->settings->at_text[0], job->settings->at_text[1]},
        .devices = comparison->views,
        .device_count = comparison->pair_count,
        .remark = comparison->remark[0] ? comparison->remark : NULL,
        .by = job->settings->by,
        .stacks = job->settings->stacks,
    };
    watch_hide(job->watch, true);
    return print(job, &report, err);
}

static bool begin(struct comparison *comparison, struct error *err)
{
    comparison->symbols = symbols_create(&comparison->budget, err);
    if (comparison->symbols)
        comparison->sites = site_table_create(comparison->symbols, err);
    return comparison->sites;
}

static void end(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->pair_count; i++) {
        diff_destroy(comparison->pairs[i].like_diff);
        diff_destroy(comparison->pairs[i].diff);
    }
    free(comparison->pairs);
    free(comparison->views);
    for (int side = 0; side < 2; side++) {
        struct reduced *file = &comparison->files[side];
        for (size_t i = 0; i < file->count; i++)
            diff_side_release(&file->devices[i]);
        free(file->devices);
    }
    site_table_destroy(comparison->sites);
    symbols_destroy(comparison->symbols);
}

bool diff_snapshots(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                    struct error *err)
{
    struct comparison comparison = {.job = job, .budget = {job->settings->capture.max_memory, 0}};
    unsigned read = 0;
    *blame = DIFF_NEITHER;
    bool ok = begin(&comparison, err);
    for (; ok && read < 2; read++) {
        *blame = read;
        ok = read_side(&comparison, &inputs[read], read, err);
    }
    for (; read < 2; read++)
        input_discard(&inputs[read]);
    if (ok) {
        *blame = DIFF_NEITHER;
        ok = report(&comparison, err);
    }
    end(&comparison);
    return ok;
}
