#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/cli/watch.h"
#include "commands/export/tables.h"

typedef bool exporter(const struct export_job *job, int fd, struct error *err);

static exporter *choose(const struct export_options *options)
{
    enum export_table table = options->table;
    if (options->as_snapshot)
        return export_snapshot;
    if (table == EXPORT_EVENTS || table == EXPORT_STACKS || table == EXPORT_ANNOTATIONS)
        return export_stream;
    return export_capture;
}

static bool export_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct export_options *options = self;
    struct watch watch;
    const struct load_progress progress = {watch_update, &watch};
    const struct export_job job = {options, inputs->paths[0], out, &progress};
    int fd;
    if (!inputs_take(inputs, 0, &fd, err))
        return false;
    watch_begin(&watch, 1, out);
    bool ok = choose(options)(&job, fd, err);
    watch_end(&watch);
    return ok;
}

static enum status export_into(void *self, struct inputs *inputs)
{
    const struct export_options *options = self;
    return files_write(options->output, inputs, export_file, self);
}

static enum status run(int argc, char **argv)
{
    struct export_options options = {
        .capture = {.max_memory = budget_default_limit(), .device = ALL_DEVICES}};
    struct error err;
    enum status status;
    if (!options_read(&command_export, argc, argv, export_option, &options, &status))
        return status;
    if (argc - optind > 1)
        return complain_usage("export: expected one file");
    if (!export_options_complete(&options, &err))
        return complain_usage("export: %s", err.text);
    return files_run_with_rules(options.rules, &options.capture, argv + optind, argc - optind,
                                export_into, &options);
}

const struct command command_export = {
    .name = "export",
    .summary = "write a snapshot as tables, or part of it as a new snapshot",
    .arguments = "[OPTION]... [FILE]",
    .about = "Writes one table of an allocator snapshot for other programs, as CSV, JSON lines\n"
             "or msgpack. With --as snapshot it writes part of the trace as a new snapshot,\n"
             "which memsnap and pytorch.org/memory_viz can read. FILE is as in memsnap\n"
             "analyze. memsnap-export(1) lists the columns of each table.\n",
    .examples = "  memsnap export snapshot.pickle -o allocations.csv\n"
                "  memsnap export --table events --range +2s:+3s big.pickle -o events.msgpack\n"
                "  memsnap export --table blocks --at peak snapshot.pickle\n"
                "  memsnap export --as snapshot --range +2s:+3s big.pickle -o part.pickle\n"
                "  memsnap export --format jsonl snapshot.pickle | jq 'select(.size > 1e9)'\n",
    .options = export_option_specs,
    .words =
        (const struct option_words[]){
            {"as", "snapshot", NULL},
            {"table", "allocations events segments blocks sites stacks annotations", NULL},
            {"format", "csv jsonl msgpack", NULL},
            {"at", WORDS_MOMENT, NULL},
            {NULL, NULL, NULL},
        },
    .run = run,
};
