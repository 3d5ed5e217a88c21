#include <stdlib.h>
#include <unistd.h>

#include "commands/analyze_options.h"
#include "commands/complain.h"
#include "commands/inputs.h"
#include "commands/options.h"
#include "commands/output.h"
#include "render/analyze.h"

/* The run over all files: where it writes and what remains of the files done. */
struct run {
    const struct analyze_options *options;
    struct output output;
    struct page page;
    struct comparison_row *rows;
    size_t row_count, row_capacity;
    size_t reported; /* files */
};

static struct comparison_row *add_row(struct run *run, const char *path, struct error *err)
{
    if (run->row_count == run->row_capacity) {
        size_t capacity = run->row_capacity ? 2 * run->row_capacity : 16;
        struct comparison_row *grown = reallocarray(run->rows, capacity, sizeof(*grown));
        if (!grown) {
            error_set(err, STATUS_LIMIT, "out of memory");
            return NULL;
        }
        run->rows = grown;
        run->row_capacity = capacity;
    }
    struct comparison_row *row = &run->rows[run->row_count++];
    *row = (struct comparison_row){.path = path};
    return row;
}

static bool add_figures(struct run *run, const char *path, const struct capture *capture,
                        struct error *err)
{
    for (size_t i = 0; i < capture->device_count; i++) {
        const struct timeline *timeline = capture->timelines[i];
        struct comparison_row *row = add_row(run, path, err);
        if (!row)
            return false;
        row->device = timeline->device;
        row->peak_bytes = timeline->active.peak_bytes;
        row->baseline_bytes = timeline->active.baseline_bytes;
        row->reserved_bytes = timeline->reserved.peak_bytes;
    }
    return true;
}

static bool render(struct run *run, const char *path, const struct capture *capture,
                   struct device_report **reports, struct error *err)
{
    const struct analyze_options *options = run->options;
    struct analysis analysis = {
        .path = path,
        .snapshot = capture->snapshot,
        .sites = capture->sites,
        .devices = reports,
        .device_count = capture->device_count,
        .at_given = options->report.at_given,
        .at_end = options->report.at_end,
        .stacks = options->stacks,
        .verbose = options->verbose,
        .largest = options->largest,
    };
    if (run->reported && !options->json)
        fputs("\n\n", run->output.stream);
    bool ok = options->json ? analyze_json(run->output.stream, &analysis)
                            : analyze_text(&run->page, &analysis);
    return ok || error_set(err, STATUS_LIMIT, "out of memory");
}

static bool build_reports(const struct analyze_options *options, const struct capture *capture,
                          struct device_report **reports, struct error *err)
{
    for (size_t i = 0; i < capture->device_count; i++) {
        reports[i] =
            device_report_build(capture->timelines[i], capture->sites, &options->report, err);
        if (!reports[i])
            return false;
    }
    return true;
}

static bool report_file(struct run *run, const char *path, struct error *err)
{
    struct capture capture;
    if (!capture_open(&capture, path, &run->options->capture, err))
        return false;
    struct device_report **reports = calloc(capture.device_count + 1, sizeof(reports[0]));
    bool ok = reports || error_set(err, STATUS_LIMIT, "out of memory");
    ok = ok && build_reports(run->options, &capture, reports, err) &&
         add_figures(run, path, &capture, err) && render(run, path, &capture, reports, err);
    for (size_t i = 0; reports && i < capture.device_count && reports[i]; i++)
        device_report_destroy(reports[i]);
    free(reports);
    capture_close(&capture);
    return ok;
}

/* The status of the first file that fails; the files after it are still reported. */
static enum status report_files(struct run *run, const struct inputs *inputs)
{
    enum status status = STATUS_OK;
    struct error err;
    for (size_t i = 0; i < inputs->count; i++) {
        if (report_file(run, inputs->paths[i], &err)) {
            run->reported++;
            continue;
        }
        complain_error(inputs->paths[i], &err);
        status = status ? status : err.status;
        struct comparison_row *row = add_row(run, inputs->paths[i], &err);
        if (row)
            row->failed = true;
    }
    if (inputs->count > 1 && run->reported && !run->options->json) {
        fputs("\n\n", run->output.stream);
        if (!comparison_text(&run->page, run->rows, run->row_count)) {
            complain("out of memory");
            status = status ? status : STATUS_LIMIT;
        }
    }
    return status;
}

static enum status analyze(const struct analyze_options *options, const struct inputs *inputs)
{
    struct run run = {.options = options};
    struct error err;
    if (!output_open(&run.output, options->output, &err)) {
        complain("%s", err.text);
        return err.status;
    }
    run.page = page_for(run.output.stream, options->unit);
    enum status status = report_files(&run, inputs);
    free(run.rows);
    if (run.reported == 0) {
        output_discard(&run.output);
    } else if (!output_commit(&run.output, &err)) {
        complain("%s", err.text);
        status = err.status;
    }
    return status;
}

static enum status run(int argc, char **argv)
{
    struct analyze_options options = {.capture.device = ALL_DEVICES};
    struct error err;
    struct inputs inputs;
    for (int option; (option = options_next(&command_analyze, argc, argv)) != OPTIONS_END;) {
        if (option == OPTIONS_BAD)
            return STATUS_USAGE;
        if (option == OPTION_HELP) {
            options_help(&command_analyze);
            return STATUS_OK;
        }
        if (!analyze_option(option, &options, &err))
            return complain_usage("analyze: %s", err.text);
    }
    analyze_options_complete(&options);
    enum status status = inputs_choose(&inputs, argv + optind, argc - optind);
    if (status == STATUS_OK) {
        status = analyze(&options, &inputs);
        inputs_release(&inputs);
    }
    return status;
}

const struct command command_analyze = {
    .name = "analyze",
    .summary = "what was live when memory peaked, and whose it was",
    .arguments = "[OPTION]... [FILE]...",
    .about = "Reports where the memory of each GPU went: the peak, what was live then by\n"
             "category and by call site, and what the allocator held. FILE is an allocator\n"
             "snapshot, as torch.cuda.memory._dump_snapshot() writes it, or the same as JSON,\n"
             "gzip-compressed or not; - is standard input. Without FILE: $MEMSNAP_INPUT, else\n"
             "the newest capture in this folder. Several files are compared at the end.\n",
    .examples = "  memsnap analyze snapshot.pickle\n"
                "  memsnap analyze --stacks --top 3 snapshot.pickle     where exactly\n"
                "  memsnap analyze --at end snapshot.pickle             what was never freed\n"
                "  memsnap analyze --at +1.5s snapshot.pickle           at another moment\n"
                "  memsnap analyze --range +2s:+3s big.pickle           a part of a long capture\n"
                "  memsnap analyze rank*.pickle                         several, then compared\n"
                "  memsnap analyze --format json snapshot.pickle | jq .devices[0].active\n",
    .options = analyze_option_specs,
    .run = run,
};
