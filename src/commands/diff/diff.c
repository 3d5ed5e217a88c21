#include <string.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/diff/options.h"

struct layer_file {
    struct layer_trace *trace;
    struct layers_report *report;
};

static bool read_side(const struct diff_job *job, struct input *input, size_t limit,
                      struct layer_file *file, struct error *err)
{
    const struct layers_options options = {.top = 1,
                                           .ranks = 2}; /* affects only parts that are not used */
    if (!input_restrict(input, limit, err)) {
        input_discard(input);
        return false;
    }
    file->trace = layer_trace_load_input(input, err);
    if (file->trace)
        file->report = layers_report_build(file->trace, &options, err);
    watch_input_done(job->watch);
    return file->report;
}

static bool print(const struct diff_job *job, const struct layers_diff_report *report,
                  struct error *err)
{
    bool ok;
    switch (job->settings->format) {
    case DIFF_CSV:
        return layers_diff_csv(job->page->out, report, err);
    case DIFF_JSON:
        ok = layers_diff_json(job->page->out, report);
        break;
    default:
        ok = layers_diff_text(job->page, report);
        break;
    }
    return ok || error_out_of_memory(err);
}

static bool report(const struct diff_job *job, const struct layer_file files[2], struct error *err)
{
    const struct layers_report *a = files[0].report, *b = files[1].report;
    struct layers_diff diff;
    if (!layers_diff_make(&diff, a, b, job->settings->unit, files[1].trace->budget, err))
        return false;
    struct layers_diff_report report = {
        .diff = &diff,
        .limit = diff_limit_check(job->settings, a->allocated.bytes, b->allocated.bytes),
        .top = job->settings->top,
    };
    for (int side = 0; side < 2; side++) {
        const struct layer_trace *trace = files[side].trace;
        report.inputs[side] = (struct input_line){.path = job->paths[side],
                                                  .bytes = trace->input_bytes,
                                                  .encoding = trace->encoding,
                                                  .protocol = trace->protocol,
                                                  .compression = trace->compression,
                                                  .lead = side ? "B: " : "A: "};
    }
    *job->exceeded = report.limit.exceeded;
    watch_hide(job->watch, true);
    bool ok = print(job, &report, err);
    layers_diff_release(&diff);
    return ok;
}

static bool diff_layers(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                        struct error *err)
{
    struct layer_file files[2] = {{0}};
    size_t limit = job->settings->capture.max_memory;
    *blame = 0;
    bool ok = read_side(job, &inputs[0], limit, &files[0], err);
    if (ok) {
        *blame = 1;
        ok = read_side(job, &inputs[1], limit - files[0].trace->budget->used, &files[1], err);
    } else {
        input_discard(&inputs[1]);
    }
    if (ok) {
        *blame = DIFF_NEITHER;
        ok = report(job, files, err);
    }
    for (int side = 0; side < 2; side++) {
        layers_report_destroy(files[side].report);
        layer_trace_destroy(files[side].trace);
    }
    return ok;
}

static bool open_sources(const struct diff_settings *settings, struct inputs *inputs,
                         struct input opened[2], unsigned *blame, struct error *err)
{
    for (unsigned side = 0; side < 2; side++) {
        int fd;
        *blame = side;
        if (inputs_take(inputs, side, &fd, err) &&
            input_from_fd(&opened[side], fd, settings->capture.max_memory, err))
            continue;
        if (side == 1)
            input_discard(&opened[0]);
        return false;
    }
    return true;
}

static bool check_summary_options(const struct diff_settings *settings, struct error *err)
{
    const char *given = settings->snapshot_option ? settings->snapshot_option : "";
    const char *option = settings->at_given                ? "at"
                         : settings->by != DIFF_BY_ALL     ? "by"
                         : settings->stacks != STACKS_NONE ? "stacks"
                         : strcmp(given, "range") == 0     ? "range"
                                                           : NULL;
    return !option || error_set(err, STATUS_USAGE, "--%s does not apply to %s", option,
                                kind_name(KIND_SUMMARY));
}

/* Selects how to compare the files. A file of unknown kind is read as a snapshot, since that loader
 * has the best error message. */
static diff_files *choose(const struct diff_settings *settings, struct input opened[2],
                          unsigned *blame, struct error *err)
{
    bool layers[2], summaries = false;
    for (unsigned side = 0; side < 2; side++) {
        enum file_kind kind = sniff_kind(&opened[side].source);
        layers[side] = kind == KIND_LAYER_TRACE;
        summaries = summaries || kind == KIND_SUMMARY;
        *blame = side;
        if (kind == KIND_OPERATOR_CURVES || kind == KIND_FIT) {
            error_set(err, STATUS_USAGE, "expected an allocator snapshot or a layer trace, not %s",
                      kind_name(kind));
            return NULL;
        }
        if (layers[side] && settings->snapshot_option) {
            error_set(err, STATUS_USAGE, "--%s does not apply to %s, only to allocator snapshots",
                      settings->snapshot_option, kind_name(kind));
            return NULL;
        }
    }
    if (summaries && !check_summary_options(settings, err))
        return NULL;
    if (layers[0] != layers[1]) {
        error_set(err, STATUS_USAGE, "the file is %s, but the other file is not",
                  kind_name(KIND_LAYER_TRACE));
        *blame = layers[1];
        return NULL;
    }
    return layers[0] ? diff_layers : summaries ? diff_summaries : diff_snapshots;
}

static bool compare(const struct diff_job *job, struct inputs *inputs, unsigned *blame,
                    struct error *err)
{
    struct input opened[2];
    if (!open_sources(job->settings, inputs, opened, blame, err))
        return false;
    diff_files *compare_files = choose(job->settings, opened, blame, err);
    if (compare_files)
        return compare_files(job, opened, blame, err);
    input_discard(&opened[0]);
    input_discard(&opened[1]);
    return false;
}

static enum status diff(void *self, struct inputs *inputs)
{
    const struct diff_settings *settings = self;
    struct output output;
    struct error err;
    if (inputs->count != 2)
        return complain_usage("diff: expected two files");
    enum status status = files_open(&output, settings->output, inputs);
    if (status != STATUS_OK)
        return status;
    struct page page = page_for(output.stream, settings->unit);
    struct watch watch;
    bool exceeded = false;
    unsigned blame = DIFF_NEITHER;
    const struct diff_job job = {settings, &page, inputs->paths, &watch, &exceeded};
    watch_begin(&watch, inputs->count, output.stream);
    bool ok = compare(&job, inputs, &blame, &err);
    watch_end(&watch);
    status = files_close(&output, ok, blame == DIFF_NEITHER ? NULL : inputs->paths[blame], &err);
    return status == STATUS_OK && exceeded ? STATUS_CHECK_FAILED : status;
}

static bool is_compared(enum file_kind kind)
{
    return kind_is_snapshot(kind) || kind == KIND_LAYER_TRACE;
}

static enum status run(int argc, char **argv)
{
    struct diff_settings settings = diff_settings_default();
    struct error err;
    enum status status;
    if (!options_read(&command_diff, argc, argv, diff_option, &settings, &status))
        return status;
    settings.files.what.kinds = is_compared;
    settings.files.most = 2;
    if (!diff_options_complete(&settings, &err))
        return complain_usage("diff: %s", err.text);
    if (argc - optind != 2 && !settings.files.has_rank)
        return complain_usage("diff: expected two files");
    return files_run_with_rules(settings.rules, &settings.capture, argv + optind, argc - optind,
                                &settings.files, diff, &settings);
}

const struct command command_diff = {
    .name = "diff",
    .summary = "report what changed between two snapshots",
    .arguments = "[OPTION]... A B",
    .about = "Compares the live memory of two captures, and reports what changed: in total, by\n"
             "category, by phase and by call site. Each capture is examined at its peak unless\n"
             "--at says otherwise. Call sites are matched even if their line numbers changed.\n"
             "A and B are allocator snapshots, as in memsnap analyze, or two layer traces,\n"
             "which are compared by module; - is standard input.\n",
    .examples = "  memsnap diff before.pickle after.pickle\n"
                "  memsnap diff --stacks --top 3 before.pickle after.pickle   with the stacks\n"
                "  memsnap diff --at end monday.pickle tuesday.pickle         what is never freed\n"
                "  memsnap diff --at-a +1s --at-b +5s run.pickle run.pickle   two moments\n"
                "  memsnap diff --fail-over 5% main.pickle branch.pickle      fail in CI\n"
                "  memsnap diff --format csv --by category a.pickle b.pickle\n",
    .options = diff_option_specs,
    .words = diff_option_words,
    .run = run,
};
