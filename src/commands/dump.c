#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/cli/arguments.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "decode/core/sniff.h"
#include "decode/pickle/decode.h"
#include "render/dump/json.h"

enum { OPTION_FORMAT = OPTION_LONG_ONLY };

#define PROTO 0x80 /* first byte of every pickle since protocol 2 */

struct dump_options {
    size_t max_memory; /* bytes */
    struct file_choice files;
    const char *output;
};

/* Decodes the pickle. Without PROTO any file could be a pickle, so the error also says what the
 * file looks like. */
static bool decode(struct source *source, struct symbols *symbols, struct values *values,
                   value *root, struct error *err)
{
    enum encoding encoding = ENCODING_UNKNOWN;
    struct error sniffed;
    bool known = sniff_encoding(source, &encoding, &sniffed);
    if (!known && sniffed.status != STATUS_BAD_INPUT) {
        *err = sniffed;
        return false;
    }
    if (source->pos == source->end)
        return error_set(err, STATUS_BAD_INPUT, "not a pickle: the file is empty");
    if (encoding == ENCODING_JSON)
        return error_set(err, STATUS_BAD_INPUT, "not a pickle: the file is JSON");
    if (encoding == ENCODING_MSGPACK)
        return error_set(err, STATUS_BAD_INPUT, "not a pickle: the file is msgpack");
    bool tells_itself = known || *source->pos == PROTO;
    const char *looks_like = sniff_description(source);
    if (decode_pickle_value(source, symbols, values, root, err))
        return true;
    if (err->status == STATUS_BAD_INPUT && !tells_itself) {
        size_t size = strlen(err->text);
        snprintf(err->text + size, sizeof(err->text) - size, " (it looks like %s)", looks_like);
    }
    return false;
}

static bool dump_source(struct source *source, const char *path, FILE *out, struct error *err)
{
    struct values values;
    value root;
    struct symbols *symbols = symbols_create(source->budget, err);
    bool ok = symbols && decode(source, symbols, &values, &root, err);
    if (ok) {
        struct dump dump = {.path = path,
                            .gzip = source->compression == COMPRESSION_GZIP,
                            .values = &values,
                            .root = root};
        ok = dump_json(out, &dump, source->budget, err);
        values_release(&values);
    }
    symbols_destroy(symbols);
    return ok;
}

static bool dump_file(const struct dump_options *options, struct inputs *inputs, size_t index,
                      FILE *out, struct error *err)
{
    struct budget budget = {.limit = options->max_memory};
    struct source source;
    int fd;
    if (!inputs_take(inputs, index, &fd, err) || !source_open_fd(&source, fd, &budget, err))
        return false;
    bool ok = dump_source(&source, inputs->paths[index], out, err);
    source_close(&source);
    return ok;
}

/* Dumps all files, also after a failure. Returns the status of the first file that failed. */
static enum status dump_files(const struct dump_options *options, struct inputs *inputs, FILE *out,
                              size_t *dumped)
{
    enum status status = STATUS_OK;
    struct error err;
    *dumped = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        if (dump_file(options, inputs, i, out, &err)) {
            ++*dumped;
            continue;
        }
        complain_error(inputs->paths[i], &err);
        status = status ? status : err.status;
    }
    return status;
}

static enum status dump(void *self, struct inputs *inputs)
{
    const struct dump_options *options = self;
    struct output output;
    struct error err;
    size_t dumped;
    enum status status = files_open(&output, options->output, inputs);
    if (status != STATUS_OK)
        return status;
    status = dump_files(options, inputs, output.stream, &dumped);
    if (dumped == 0)
        output_discard(&output);
    else if (!output_commit(&output, &err))
        status = complain_failure(&err);
    return status;
}

static bool take_option(int option, void *to, struct error *err)
{
    struct dump_options *options = to;
    switch (option) {
    case OPTION_FORMAT:
        return strcmp(optarg, "json") == 0 ||
               error_set(err, STATUS_USAGE, "invalid format '%.60s' (expected json)", optarg);
    default:
        return shared_option(option,
                             &(const struct shared_options){.max_memory = &options->max_memory,
                                                            .output = &options->output,
                                                            .files = &options->files},
                             err);
    }
}

static enum status run(int argc, char **argv)
{
    struct dump_options options = {.max_memory = budget_default_limit(),
                                   .files.what.pickles = true};
    enum status status;
    if (!options_read(&command_dump, argc, argv, take_option, &options, &status))
        return status;
    return files_run(argv + optind, argc - optind, &options.files, dump, &options);
}

static const struct option_spec options[] = {
    {OPTION_FORMAT, "format", "FORMAT", "json, the only format: one line for each file"},
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY_OF_FILE,
    ROWS_END,
};

const struct command command_dump = {
    .name = "dump",
    .summary = "print any pickle as JSON, without running what is in it",
    .arguments = "[OPTION]... [FILE]...",
    .about = "Prints the content of each pickle as one line of JSON, without running anything\n"
             "in it: imports and calls are printed, never made. FILE may be any pickle,\n"
             "compressed with gzip or not; - is standard input. memsnap-dump(1) describes how\n"
             "each kind of value is written.\n",
    .examples =
        "  memsnap dump snapshot.pickle | jq .value.allocator_settings\n"
        "  memsnap dump stranger.pickle | grep -oE '\"\\$(class|global)\":[^,}]*' | sort -u\n"
        "                           list what a pickle would import\n",
    .options = options,
    .words =
        (const struct option_words[]){
            {"format", "json", NULL},
            {NULL, NULL, NULL},
        },
    .run = run,
};
