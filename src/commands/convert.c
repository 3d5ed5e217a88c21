#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "model/layer_trace.h"
#include "render/layers/convert.h"

enum { OPTION_TO = OPTION_LONG_ONLY };

enum target { TARGET_BY_NAME, TARGET_JSON, TARGET_MSGPACK };

struct convert_options {
    enum target target;
    size_t max_memory; /* bytes */
    struct file_choice files;
    const char *output;
};

static enum target choose_target(const struct convert_options *options)
{
    if (options->target != TARGET_BY_NAME)
        return options->target;
    return options->output && path_ends_in(options->output, ".msgpack") ? TARGET_MSGPACK
                                                                        : TARGET_JSON;
}

/* Names the keys of the input that the output lacks because memsnap does not know them. */
static void tell_left_out(const char *path, const struct layer_trace *trace)
{
    struct buffer names = BUFFER_INIT;
    for (size_t i = 0; i < trace->unknown_key_count; i++) {
        struct text key = symbols_text(trace->symbols, trace->unknown_keys[i]);
        buffer_puts(&names, i ? ", " : "");
        buffer_add(&names, key.bytes, key.size);
    }
    if (names.size && !names.failed)
        complain("%s: unknown keys were left out: %.200s%s", path_name(path), names.bytes,
                 trace->more_unknown_keys || names.size > 200 ? ", ..." : "");
    buffer_release(&names);
}

static bool convert_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct convert_options *options = self;
    int fd;
    if (!inputs_take(inputs, 0, &fd, err))
        return false;
    struct layer_trace *trace = layer_trace_load(fd, options->max_memory, err);
    if (!trace)
        return false;
    bool ok = choose_target(options) == TARGET_MSGPACK ? layers_write_msgpack(out, trace)
                                                       : layers_write_json(out, trace);
    if (ok)
        tell_left_out(inputs->paths[0], trace);
    else
        error_out_of_memory(err);
    layer_trace_destroy(trace);
    return ok;
}

static enum status convert(void *self, struct inputs *inputs)
{
    const struct convert_options *options = self;
    return files_write(options->output, inputs, convert_file, self);
}

static const struct option_words words[] = {
    {"to", "json msgpack", NULL},
    {NULL, NULL, NULL},
};

static bool take_option(int option, void *to, struct error *err)
{
    struct convert_options *options = to;
    unsigned target;
    switch (option) {
    case OPTION_TO:
        if (!option_word(words, "to", "format", &target, err))
            return false;
        options->target = target == 0 ? TARGET_JSON : TARGET_MSGPACK;
        return true;
    default:
        return shared_option(option,
                             &(const struct shared_options){.max_memory = &options->max_memory,
                                                            .output = &options->output,
                                                            .files = &options->files},
                             err);
    }
}

static bool is_converted(enum file_kind kind)
{
    return kind == KIND_LAYER_TRACE || kind == KIND_PROFILE;
}

static enum status run(int argc, char **argv)
{
    struct convert_options options = {.max_memory = budget_default_limit(),
                                      .files = {.what.kinds = is_converted, .most = 1}};
    enum status status;
    if (!options_read(&command_convert, argc, argv, take_option, &options, &status))
        return status;
    if (argc == optind || (argc - optind > 1 && !options.files.has_rank))
        return complain_usage("convert: expected one file, or - for standard input");
    bool to_stdout = !options.output || strcmp(options.output, "-") == 0;
    if (choose_target(&options) == TARGET_MSGPACK && to_stdout && isatty(STDOUT_FILENO))
        return complain_usage(
            "convert: refusing to write msgpack to a terminal; name a file with -o");
    return files_run(argv + optind, argc - optind, &options.files, convert, &options);
}

static const struct option_spec options[] = {
    {OPTION_TO, "to", "FORMAT",
     "write json (the default) or msgpack (the default if\n"
     "FILE ends in .msgpack)"},
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct command command_convert = {
    .name = "convert",
    .summary = "write a layer trace in another format",
    .arguments = "[OPTION]... FILE",
    .about = "Reads a layer trace of memsnap's recorder or of FairScale's\n"
             "LayerwiseMemoryTracker, or the calls of modules in a profile of torch.profiler,\n"
             "and writes it as JSON or msgpack. FILE may be JSON, a pickle or msgpack,\n"
             "compressed with gzip or not; - is standard input. Nothing in a pickle is run.\n"
             "LayerwiseMemoryTracker.load() can read the JSON; msgpack takes about a sixth of\n"
             "the space.\n",
    .examples = "  memsnap convert traces.pickle -o traces.json\n"
                "  memsnap convert traces.json -o traces.msgpack\n"
                "  memsnap convert traces.msgpack | jq .traces[0]\n",
    .options = options,
    .words = words,
    .run = run,
};
