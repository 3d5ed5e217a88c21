#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/flame/flame.h"
#include "base/budget.h"
#include "commands/cli/arguments.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "decode/core/sniff.h"
#include "model/device.h"
#include "render/flame/flame.h"

enum {
    OPTION_WEIGHT = OPTION_LONG_ONLY,
    OPTION_FORMAT,
    OPTION_BY,
    OPTION_STACKS,
};

struct flame_command {
    struct capture_options capture;
    struct file_choice files;
    struct flame_options flame;
    bool speedscope;    /* false: folded */
    const char *rules;  /* file with the user's rules, "none", or NULL for the default file */
    const char *output; /* NULL: standard output */
};

/* Warns of what the graph itself does not show. */
static void remark(const char *path, const struct flame *flame, bool is_only_device)
{
    uint32_t device = flame->timeline->device;
    if (flame->total == 0 && (is_only_device || !timeline_is_unused(flame->timeline)))
        complain("%s: %s: no stack has any weight, so the output has none", path,
                 DEVICE_WORDS(device));
    if (flame->unit_us > 1)
        complain("%s: %s: the sum exceeds 2^63: weights are bytes times %" PRIu64 " microseconds",
                 path, DEVICE_WORDS(device), flame->unit_us);
    if (flame->unexplained_bytes < 0)
        complain("%s: %s: the trace contradicts itself: the weights sum to %" PRIu64
                 " bytes more than its curve",
                 path, DEVICE_WORDS(device), -(uint64_t)flame->unexplained_bytes);
}

static bool render(const struct flame_command *options, const char *path,
                   const struct capture *capture, FILE *out, struct error *err)
{
    struct flame **flames = calloc(capture->device_count + 1, sizeof(flames[0]));
    if (!flames)
        return error_out_of_memory(err);
    bool ok = true;
    for (size_t i = 0; ok && i < capture->device_count; i++) {
        flames[i] = flame_build(capture->timelines[i], capture->sites, &options->flame, err);
        ok = flames[i] != NULL;
    }
    struct flame_graphs graphs = {.path = path, .items = flames, .count = capture->device_count};
    ok = ok && (options->speedscope ? flame_speedscope : flame_folded)(out, &graphs, err);
    for (size_t i = 0; ok && i < capture->device_count; i++)
        remark(path_name(path), flames[i], capture->device_count == 1);
    for (size_t i = 0; i < capture->device_count; i++)
        flame_destroy(flames[i]);
    free(flames);
    return ok;
}

static bool flame_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct flame_command *options = self;
    struct capture capture;
    if (!capture_open_first(&capture, inputs, &options->capture, out, ", which has no call stacks",
                            err))
        return false;
    bool ok = render(options, inputs->paths[0], &capture, out, err);
    capture_close(&capture);
    return ok;
}

static enum status flame(void *self, struct inputs *inputs)
{
    const struct flame_command *options = self;
    return files_write(options->output, inputs, flame_file, self);
}

static const struct option_spec option_specs[] = {
    {OPTION_WEIGHT, "weight", "WHAT",
     "weigh stacks by live (bytes live at the peak or\n"
     "--at, the default), bytes-time (bytes x time live),\n"
     "allocated (bytes of all allocations) or count (number\n"
     "of allocations)"},
    {OPTION_FORMAT, "format", "FORMAT",
     "write folded (for flamegraph.pl and inferno, the\n"
     "default) or speedscope (JSON for speedscope.app)"},
    {OPTION_BY, "by", "ROOT",
     "group by stack (the default), category, phase or\n"
     "annotation"},
    {OPTION_STACKS, "stacks", "WHICH",
     "show code (Python frames and the operator, without\n"
     "frames that only forward calls, the default) or all\n"
     "frames as recorded"},
    ROW_AT("with --weight live: the moment (default: peak):\n"),
    ROW_RANGE,
    ROW_DEVICE,
    ROW_RULES,
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

static const struct option_words words[] = {
    {"weight", "live bytes-time allocated count", NULL},
    {"format", "folded speedscope", NULL},
    {"by", "stack category phase annotation", NULL},
    {"stacks", "code all", NULL},
    {"at", WORDS_MOMENT, NULL},
    {NULL, NULL, NULL},
};

static bool take_choice(int option, struct flame_command *options, struct error *err)
{
    unsigned index = 0;
    bool ok;
    switch (option) {
    case OPTION_WEIGHT:
        ok = option_word(words, "weight", "--weight", &index, err);
        options->flame.weight = (enum flame_weight)index;
        return ok;
    case OPTION_BY:
        ok = option_word(words, "by", "--by", &index, err);
        options->flame.by = (enum flame_by)index;
        return ok;
    case OPTION_STACKS:
        ok = option_word(words, "stacks", "--stacks", &index, err);
        options->flame.all_frames = index > 0;
        return ok;
    default:
        ok = option_word(words, "format", "--format", &index, err);
        options->speedscope = index > 0;
        return ok;
    }
}

static bool take_option(int option, void *to, struct error *err)
{
    struct flame_command *options = to;
    switch (option) {
    case OPTION_WEIGHT:
    case OPTION_FORMAT:
    case OPTION_BY:
    case OPTION_STACKS:
        return take_choice(option, options, err);
    default:
        return shared_option(
            option,
            &(const struct shared_options){SHARED_CAPTURE(options->capture),
                                           .rules = &options->rules, .output = &options->output,
                                           .files = &options->files, .at = &options->flame.at},
            err);
    }
}

static bool check_options(const struct flame_command *options, struct error *err)
{
    return options->flame.at.kind == WHEN_PEAK || options->flame.weight == FLAME_LIVE ||
           error_set(err, STATUS_USAGE, "--at needs --weight live; use --range with other weights");
}

static enum status run(int argc, char **argv)
{
    struct flame_command options = {.capture.device = ALL_DEVICES,
                                    .files = {.what.kinds = kind_is_snapshot, .most = 1}};
    struct error err;
    enum status status;
    if (!options_read(&command_flame, argc, argv, take_option, &options, &status))
        return status;
    if (!check_options(&options, &err))
        return complain_usage("flame: %s", err.text);
    if (argc - optind > 1 && !options.files.has_rank)
        return complain_usage("flame: expected one file");
    if (options.capture.max_memory == 0)
        options.capture.max_memory = budget_default_limit();
    return files_run_with_rules(options.rules, &options.capture, argv + optind, argc - optind,
                                &options.files, flame, &options);
}

const struct command command_flame = {
    .name = "flame",
    .summary = "write call stacks and the memory they allocated, for flame graphs",
    .arguments = "[OPTION]... [FILE]",
    .about = "Writes the call stacks of an allocator snapshot, each with the memory that it\n"
             "allocated, in a format that flamegraph.pl, inferno or speedscope can draw. By\n"
             "default the weights are the bytes live at the peak. FILE is as in memsnap\n"
             "analyze. To draw the graph directly, use 'memsnap plot --kind flame'.\n",
    .examples = "  memsnap flame snapshot.pickle | flamegraph.pl --countname bytes >peak.svg\n"
                "  memsnap flame --by category snapshot.pickle | inferno-flamegraph >peak.svg\n"
                "  memsnap flame --weight bytes-time --stacks all snapshot.pickle -o long.folded\n"
                "  memsnap flame --format speedscope snapshot.pickle -o peak.speedscope.json\n",
    .options = option_specs,
    .words = words,
    .run = run,
};
