#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/folder.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/plot/candidates.h"
#include "commands/plot/kinds.h"
#include "commands/plot/load.h"
#include "commands/plot/process.h"
#include "commands/plot/run.h"
#include "commands/plot/svg.h"
#include "commands/plot/term.h"
#include "commands/sandbox/sandbox.h"
#include "commands/summary/gather.h"
#include "render/page/html.h"
#include "render/plot/script.h"
#include "render/plot/snapshot.h"
#include "render/plot/svg_titles.h"
#include "store/store.h"

/* The parts of an HTML page; the struct owns them. */
struct page_parts {
    struct sampling sampling, still;
    struct bands bands;
    struct category_curves curves;
    struct lives lives;
};

static bool make_parts(struct page_parts *parts, const struct plot_request *request,
                       const struct plot_snapshot *snapshot, struct error *err)
{
    const struct timeline *timeline = snapshot->timeline;
    size_t wanted = request->bands > 0 ? request->bands : HTML_BANDS;
    return sampling_make(&parts->sampling, timeline, AXIS_EVENT, HTML_COLUMNS, err) &&
           sampling_make(&parts->still, timeline, request->axis, HTML_STILL, err) &&
           bands_choose(&parts->bands, timeline, &parts->sampling, wanted, err) &&
           category_curves_make(&parts->curves, timeline, snapshot->categories, &parts->still,
                                err) &&
           lives_make(&parts->lives, timeline, snapshot->sites, err);
}

static bool fill_page(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    const struct plot_request *request = job->request;
    if (!plot_snapshot_categories(snapshot, err))
        return false;
    struct page_parts parts = {.lives.budget = snapshot->timeline->snapshot->budget};
    struct html_page page = {.title = request->look.title,
                             .by_time = request->axis == AXIS_TIME,
                             .colour = plot_colours[request->colour],
                             .timeline = snapshot->timeline,
                             .sites = snapshot->sites,
                             .categories = snapshot->categories,
                             .phases = snapshot->rows,
                             .sampling = &parts.sampling,
                             .bands = &parts.bands,
                             .still = &parts.still,
                             .curves = &parts.curves,
                             .lives = &parts.lives};
    bool ok = make_parts(&parts, request, snapshot, err) && html_write(&page, job->files[0], err);
    lives_release(&parts.lives);
    category_curves_release(&parts.curves);
    bands_release(&parts.bands);
    sampling_release(&parts.still);
    sampling_release(&parts.sampling);
    return ok;
}

static bool write_page(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    static const struct plot_kind page = {
        .name = "timeline", .places_templates = true, .of_snapshot = fill_page};
    const struct plot_options *options = self;
    struct watch watch;
    watch_begin(&watch, 1, out);
    struct load_progress progress = {.update = watch_update, .self = &watch};
    struct plot_load load = {.options = options, .inputs = inputs, .progress = &progress};
    struct plot_job job = {.request = &options->request, .files = {out}};
    bool ok = plot_load_draw(&load, &page, &job, err);
    watch_end(&watch);
    return ok;
}

/* The timeline as an interactive HTML page, which needs no gnuplot. */
static enum status plot_page(const struct plot_options *options, struct inputs *inputs)
{
    return files_write(options->out, inputs, write_page, options);
}

/* State of the process that reads the input. */
struct reading {
    const struct plot_options *options;
    struct inputs *inputs;
    struct plot_candidates *candidates;
    FILE *settings; /* for the script (render/plot/script.h) */
    FILE *notes;    /* tooltips of an SVG; else NULL */
};

static bool draw_data(const struct reading *reading, struct plot_load *load, struct error *err)
{
    struct plot_request request = reading->options->request;
    if (!plot_candidates_choose(reading->candidates, load, err))
        return false;
    const struct plot_candidate *chosen = plot_chosen(reading->candidates);
    struct plot_job job = {.request = &request, .notes = reading->notes};
    memcpy(job.files, chosen->folder.files, sizeof(job.files));
    job.files[0] = reading->settings;
    request.look.kind = chosen->kind->name;
    plot_put_text(job.files[0], "plot_title", request.look.title, PLOT_TEXT);
    return (!job.notes || svg_titles_begin(job.notes, request.look.title, err)) &&
           plot_load_draw(load, chosen->kind, &job, err);
}

/* Runs in a sandboxed process; all files are open. */
static enum status read_input(void *self)
{
    struct reading *reading = self;
    struct watch watch;
    struct error err;
    watch_begin(&watch, 1, reading->settings);
    struct load_progress progress = {.update = watch_update, .self = &watch};
    struct plot_load load = {
        .options = reading->options, .inputs = reading->inputs, .progress = &progress};
    bool drawn = plot_load_history(&load, reading->options->kind, &err);
    sandbox_enter(NULL);
    drawn = drawn && draw_data(reading, &load, &err);
    if (drawn &&
        (fflush(reading->settings) != 0 || (reading->notes && fflush(reading->notes) != 0)))
        drawn = error_out_of_memory(&err);
    store_close(load.history);
    watch_end(&watch);
    if (!drawn)
        return load.told ? load.failed : complain_error(reading->inputs->paths[load.input], &err);
    reading->candidates->chosen->failed = load.failed;
    return plot_folder_close(&plot_chosen(reading->candidates)->folder, &err)
               ? STATUS_OK
               : complain_failure(&err);
}

/* Writes the script in the parent process, which has never read any input. */
static bool write_script(const struct plot_options *options, struct plot_candidate *drawn,
                         FILE *settings, struct error *err)
{
    struct plot_look look = options->request.look;
    struct plot_script_parts parts = {.files = drawn->kind->files, .templates = drawn->templates};
    while (parts.template_count < PLOT_TEMPLATES_MOST && drawn->templates[parts.template_count])
        parts.template_count++;
    look.kind = drawn->kind->name;
    FILE *script = plot_folder_open_script(&drawn->folder, err);
    if (!script)
        return false;
    rewind(settings);
    plot_begin(script, &look);
    bool ok = plot_script_add(script, settings, &parts, err);
    bool wrote = !ferror(script);
    if (fclose(script) != 0 || !wrote)
        ok = ok && error_set(err, STATUS_IO, "cannot write the gnuplot script");
    return ok;
}

/* gnuplot reads only the script and its data. */
static enum status draw(const struct plot_options *options, const struct plot_folder *folder,
                        FILE *notes)
{
    struct output output;
    struct error err;
    char *gnuplot = plot_find_gnuplot(&err);
    if (!gnuplot)
        return complain_failure(&err);
    bool ok;
    if (options->term) {
        ok = plot_show(gnuplot, folder->path, options->request.look.format, &err);
    } else if ((ok = output_open(&output, options->out, &err))) {
        ok = plot_draw(gnuplot, folder->path, notes, output.stream, &err);
        if (ok)
            ok = output_commit(&output, &err);
        else
            output_discard(&output);
    }
    free(gnuplot);
    return ok ? STATUS_OK : complain_failure(&err);
}

static enum status plot_in(struct reading *reading)
{
    const struct plot_options *options = reading->options;
    struct error err;
    enum status status;
    if (!plot_run_apart(read_input, reading, &status, &err))
        return complain_failure(&err);
    if (status != STATUS_OK)
        return status;
    struct plot_candidate *drawn = plot_chosen(reading->candidates);
    if (!drawn) {
        complain("internal error: the process that reads the input chose no picture");
        return STATUS_IO;
    }
    if (!write_script(options, drawn, reading->settings, &err))
        return complain_failure(&err);
    struct plot_folder *folder = &drawn->folder;
    if (options->out || options->term)
        status = draw(options, folder, reading->notes);
    if (options->script && !plot_folder_keep(folder, &err))
        return complain_failure(&err);
    if (status == STATUS_OK && reading->candidates->chosen->failed != STATUS_OK)
        status = STATUS_BAD_INPUT;
    return status;
}

static enum status plot(void *self, struct inputs *inputs)
{
    struct plot_options *options = self;
    struct plot_candidates candidates;
    struct error err;
    FILE *settings, *notes = NULL;
    if (!plot_options_complete(options, inputs->paths[0], inputs->count, &err))
        return complain_usage("plot: %s", err.text);
    if (options->request.look.format == PLOT_HTML)
        return plot_page(options, inputs);
    bool needed = (options->out || options->term) && !options->script;
    char *gnuplot = needed || options->term ? plot_find_gnuplot(&err) : NULL;
    if (needed && !gnuplot)
        return complain_failure(&err);
    if (!(settings = plot_svg_scratch(&err)) ||
        (options->out && options->request.look.format == PLOT_SVG &&
         !(notes = plot_svg_scratch(&err)))) {
        free(gnuplot);
        if (settings)
            fclose(settings);
        return complain_failure(&err);
    }
    enum status status;
    plot_signals_hold();
    if (options->term)
        plot_term_settle(options, gnuplot);
    free(gnuplot);
    if (!inputs_open(inputs, &err) || (options->out && !output_check(options->out, &err)) ||
        !plot_candidates_make(&candidates, options, inputs->count, &err)) {
        status = complain_failure(&err);
    } else {
        status = plot_in(&(struct reading){options, inputs, &candidates, settings, notes});
        plot_candidates_release(&candidates);
    }
    plot_signals_release();
    fclose(settings);
    if (notes)
        fclose(notes);
    return status;
}

/* A folder stands for the captures in it. */
static enum status run_ranks(struct plot_options *options, char **named, int count)
{
    const char *given = options->snapshot_option;
    if (given && strcmp(given, "device") != 0 && strcmp(given, "range") != 0 &&
        strcmp(given, "rules") != 0)
        return complain_usage("plot: --%s does not apply to --kind ranks", given);
    if (!options->request.look.title)
        options->request.look.title = count == 1 ? named[0] : "Ranks of a run";
    options->files.what.kinds = gather_wants;
    return files_run_with_rules(options->rules, &options->capture, named, count, &options->files,
                                plot, options);
}

static enum status run(int argc, char **argv)
{
    struct plot_options options = {.capture.device = ALL_DEVICES, .replay.tie_break = TIE_BREAKS};
    enum status status;
    if (!options_read(&command_plot, argc, argv, plot_option, &options, &status))
        return status;
    if (options.kind && options.kind->of_ranks && optind < argc)
        return run_ranks(&options, argv + optind, argc - optind);
    struct paths paths;
    struct error err;
    options.files.what.kinds = plot_wants;
    struct file_choice files = options.files;
    if (options.kind && options.kind->of_trend)
        files.has_rank = false; /* --rank is of the runs in the history */
    if (!paths_expand(&paths, argv + optind, (size_t)(argc - optind), &files, &err))
        return complain_failure(&err);
    plot_run_select(&paths, &options.kind);
    const struct plot_kind *several = options.kind ? options.kind : plot_kind_for_several();
    if (paths.count > 1 && !several->of_several && !several->of_run) {
        paths_release(&paths);
        return complain_usage("plot: expected one file for this kind");
    }
    if (options.capture.max_memory == 0)
        options.capture.max_memory = budget_default_limit();
    status = files_run_with_rules(options.rules, &options.capture, paths.items, (int)paths.count,
                                  &(struct file_choice){.most = 0}, plot, &options);
    paths_release(&paths);
    return status;
}

const struct command command_plot = {
    .name = "plot",
    .summary = "draw memory over time, call sites, segments and more",
    .arguments = "[OPTION]... [FILE]... [--out PICTURE]",
    .about = "Draws a capture with gnuplot as SVG, PNG or PDF, or shows it on the terminal:\n"
             "active memory over time, call sites, segments and more. A name that ends in\n"
             ".html gives an interactive page, which does not need gnuplot. FILE is as in\n"
             "memsnap analyze; two to eight files are compared in one picture. The folder of\n"
             "a run of Finetuning-Scheduler's MemProfiler makes one picture of all ranks, as\n"
             "does any folder with --kind ranks.\n",
    .examples = "  memsnap plot snapshot.pickle                    show it on the terminal\n"
                "  memsnap plot snapshot.pickle --out report.svg\n"
                "  memsnap plot snapshot.pickle --out report.html  interactive page\n"
                "  memsnap plot before.pickle after.pickle --out both.svg\n"
                "  memsnap plot --kind categories --x time snapshot.pickle --out report.png\n"
                "  memsnap plot --kind report snapshot.pickle --out report.pdf\n"
                "  memsnap plot --kind segments snapshot.pickle --out holes.svg\n"
                "  memsnap plot --kind sites --at end snapshot.pickle --out left.svg\n"
                "  memsnap plot --kind replay --gpu-memory 40GiB snapshot.pickle --out fits.svg\n"
                "  memsnap plot --color site --range +2s:+3s big.pickle --out part.pdf\n"
                "  memsnap plot --kind ranks run-17/ --out ranks.svg\n"
                "  memsnap plot --kind trend runs.sqlite --out trend.svg\n"
                "  memsnap plot snapshot.pickle --script plots && cd plots && gnuplot plot.gp\n",
    .options = plot_option_specs,
    .words = plot_option_words,
    .help_more = plot_kinds_help,
    .run = run,
};
