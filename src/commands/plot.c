#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "commands/complain.h"
#include "commands/inputs.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plot_folder.h"
#include "commands/plot_kinds.h"
#include "commands/plot_process.h"
#include "commands/rules_file.h"
#include "commands/sandbox.h"
#include "commands/watch.h"

/* What the process that reads the input needs. */
struct reading {
    const struct plot_options *options;
    struct inputs *inputs;
    char *const *templates;
    struct plot_folder *folder;
};

static enum status fail(const struct error *err)
{
    complain("%s", err->text);
    return err->status;
}

/* In a process of its own, in the sandbox: all files are open. */
static enum status read_input(void *self)
{
    struct reading *reading = self;
    struct watch watch;
    struct error err;
    watch_begin(&watch, 1, reading->folder->files[0]);
    struct load_progress progress = {.update = watch_update, .self = &watch};
    struct plot_job job = {.options = reading->options,
                           .inputs = reading->inputs,
                           .templates = reading->templates,
                           .progress = &progress,
                           .files = reading->folder->files};
    sandbox_enter(NULL);
    bool drawn = reading->options->kind->draw(&job, &err);
    watch_end(&watch);
    if (!drawn)
        return complain_error(reading->inputs->paths[job.input], &err);
    return plot_folder_close(reading->folder, &err) ? STATUS_OK : fail(&err);
}

/* gnuplot sees nothing but script and data. */
static enum status draw(const struct plot_options *options, const struct plot_folder *folder)
{
    struct output output;
    struct error err;
    char *gnuplot = plot_find_gnuplot(&err);
    if (!gnuplot)
        return fail(&err);
    bool ok = output_open(&output, options->out, &err);
    if (ok) {
        ok = plot_run_gnuplot(gnuplot, folder->path, fileno(output.stream), &err);
        if (ok)
            ok = output_commit(&output, &err);
        else
            output_discard(&output);
    }
    free(gnuplot);
    return ok ? STATUS_OK : fail(&err);
}

static enum status plot_in(struct reading *reading)
{
    const struct plot_options *options = reading->options;
    struct error err;
    bool told;
    enum status status = plot_run_apart(read_input, reading, &told);
    if (!told)
        complain("the process that reads the input ended early");
    if (status != STATUS_OK)
        return status;
    if (options->out)
        status = draw(options, reading->folder);
    if (options->script && !plot_folder_keep(reading->folder, &err))
        return fail(&err);
    return status;
}

static enum status plot(struct plot_options *options, struct inputs *inputs)
{
    const struct plot_kind *kind = options->kind;
    struct plot_folder folder;
    struct error err;
    char *templates[PLOT_TEMPLATES_MOST];
    char *gnuplot = options->out && !options->script ? plot_find_gnuplot(&err) : NULL;
    if (options->out && !options->script && !gnuplot)
        return fail(&err);
    free(gnuplot);
    if (!plot_templates_read(templates, kind->templates, &err))
        return fail(&err);
    enum status status;
    plot_signals_hold();
    if (!inputs_open(inputs, &err) || !plot_folder_make(&folder, kind->files, options->script, &err)) {
        status = fail(&err);
    } else {
        status = plot_in(&(struct reading){options, inputs, templates, &folder});
        plot_folder_remove(&folder);
    }
    plot_signals_release();
    plot_templates_release(templates);
    return status;
}

static enum status run(int argc, char **argv)
{
    struct plot_options options = {.capture.device = ALL_DEVICES,
                                   .kind = &plot_kinds[0],
                                   .look = {.width = 1600, .height = 900}};
    struct error err;
    struct inputs inputs;
    for (int option; (option = options_next(&command_plot, argc, argv)) != OPTIONS_END;) {
        if (option == OPTIONS_BAD)
            return STATUS_USAGE;
        if (option == OPTION_HELP) {
            options_help(&command_plot);
            return STATUS_OK;
        }
        if (!plot_option(option, &options, &err))
            return complain_usage("plot: %s", err.text);
    }
    if (argc - optind > 1 && options.kind->input != PLOT_OF_SEVERAL)
        return complain_usage("plot: one FILE at a time");
    struct own_rules *rules;
    if (!rules_file_read(options.rules, &rules, &err))
        return fail(&err);
    options.capture.rules = rules;
    if (options.capture.max_memory == 0)
        options.capture.max_memory = budget_default_limit();
    enum status status = inputs_choose(&inputs, argv + optind, argc - optind);
    if (status == STATUS_OK) {
        if (plot_options_complete(&options, inputs.paths[0], &err))
            status = plot(&options, &inputs);
        else
            status = complain_usage("plot: %s", err.text);
        inputs_release(&inputs);
    }
    own_rules_destroy(rules);
    return status;
}

const struct command command_plot = {
    .name = "plot",
    .summary = "draw memory over time: a band an allocation, or an area a category",
    .arguments = "[OPTION]... [FILE] --out PICTURE",
    .about = "Draws an allocator snapshot with gnuplot, as SVG, PNG or PDF by the name of the\n"
             "picture: what was live when, what it was for, where it peaked, and what the\n"
             "allocator had reserved. FILE is as in memsnap analyze.\n",
    .examples = "  memsnap plot snapshot.pickle --out report.svg\n"
                "  memsnap plot --kind categories --x time snapshot.pickle --out report.png\n"
                "  memsnap plot --color site --range +2s:+3s big.pickle --out part.pdf\n"
                "  memsnap plot snapshot.pickle --script plots && cd plots && gnuplot plot.gp\n",
    .options = plot_option_specs,
    .help_more = plot_kinds_help,
    .run = run,
};
