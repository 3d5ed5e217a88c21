#include "commands/export/options.h"

#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"

enum {
    OPTION_TABLE = OPTION_LONG_ONLY,
    OPTION_AS,
    OPTION_FORMAT,
};

const struct option_spec export_option_specs[] = {
    {OPTION_TABLE, "table", "TABLE",
     "write this table: allocations (the default), events,\n"
     "segments, blocks, sites, stacks or annotations"},
    {OPTION_AS, "as", "snapshot",
     "write a snapshot with the events that --range and\n"
     "--device select, instead of a table"},
    {OPTION_FORMAT, "format", "FORMAT",
     "write csv, jsonl (JSON lines) or msgpack; or sqlite, a\n"
     "database of all tables (default: by the ending of the\n"
     "output's name, else csv)"},
    ROWS_RANK_AND_OUTPUT,
    {OPTION_RANGE, "range", "A:B",
     "allocations, events, sites, snapshot: look only at\n"
     "these events, as in analyze"},
    ROW_AT("sites, segments, blocks: the moment:\n"),
    ROW_DEVICE,
    ROW_RULES,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct option_words export_option_words[] = {
    {"as", "snapshot", NULL},
    {"table", "allocations events segments blocks sites stacks annotations", NULL},
    {"format", "csv jsonl msgpack sqlite", NULL},
    {"at", WORDS_MOMENT, NULL},
    {NULL, NULL, NULL},
};

static bool take_table(const char *text, struct export_options *options, struct error *err)
{
    for (int i = 0; i < EXPORT_TABLES; i++) {
        if (strcmp(text, export_tables[i]->name) != 0)
            continue;
        options->table = (enum export_table)i;
        options->table_given = true;
        return true;
    }
    struct buffer names = BUFFER_INIT;
    for (int i = 0; i < EXPORT_TABLES; i++)
        buffer_printf(&names, "%s%s", i ? ", " : "", export_tables[i]->name);
    error_set(err, STATUS_USAGE, "invalid table '%.40s' (expected one of %.150s)", text,
              names.failed ? "" : names.bytes);
    buffer_release(&names);
    return false;
}

bool export_option(int option, void *to, struct error *err)
{
    struct export_options *options = to;
    unsigned format;
    switch (option) {
    case OPTION_TABLE:
        return take_table(optarg, options, err);
    case OPTION_AS:
        options->as_snapshot = true;
        return strcmp(optarg, "snapshot") == 0 ||
               error_set(err, STATUS_USAGE,
                         "invalid --as '%.60s' (expected snapshot; for tables use --format)",
                         optarg);
    case OPTION_FORMAT:
        options->format_given = true;
        if (!option_word(export_option_words, "format", "format", &format, err))
            return false;
        options->format = (enum record_format)format;
        return true;
    case OPTION_AT:
        options->at_given = true;
        return argument_when(optarg, &options->at, err);
    case OPTION_RANGE:
        options->range_given = true;
        return window_parse(optarg, &options->capture.window, err);
    case OPTION_DEVICE:
        options->device_given = true;
        return argument_device(optarg, &options->capture.device, err);
    default:
        return shared_option(option,
                             &(const struct shared_options){
                                 SHARED_CAPTURE(options->capture), .rules = &options->rules,
                                 .output = &options->output, .files = &options->files},
                             err);
    }
}

/* Options that restrict a table. */
enum { TAKES_RANGE = 1, TAKES_AT = 2, TAKES_DEVICE = 4, TAKES_RULES = 8 };

static const unsigned takes[EXPORT_TABLES] = {
    [EXPORT_ALLOCATIONS] = TAKES_RANGE | TAKES_DEVICE | TAKES_RULES,
    [EXPORT_EVENTS] = TAKES_RANGE | TAKES_DEVICE,
    [EXPORT_SEGMENTS] = TAKES_AT | TAKES_DEVICE,
    [EXPORT_BLOCKS] = TAKES_AT | TAKES_DEVICE | TAKES_RULES,
    [EXPORT_SITES] = TAKES_AT | TAKES_RANGE | TAKES_DEVICE | TAKES_RULES,
    [EXPORT_ANNOTATIONS] = TAKES_DEVICE,
};

static bool check_table(const struct export_options *options, struct error *err)
{
    const struct {
        unsigned flag;
        bool given;
        const char *name, *instead;
    } restrictions[] = {
        {TAKES_RANGE, options->range_given, "range",
         takes[options->table] & TAKES_AT ? "; use --at to select the moment" : ""},
        {TAKES_AT, options->at_given, "at",
         takes[options->table] & TAKES_RANGE ? "; use --range to select part of the trace" : ""},
        {TAKES_DEVICE, options->device_given, "device", ""},
        {TAKES_RULES, options->rules != NULL, "rules", ""},
    };
    for (size_t i = 0; i < sizeof(restrictions) / sizeof(restrictions[0]); i++)
        if (restrictions[i].given && !(takes[options->table] & restrictions[i].flag))
            return error_set(err, STATUS_USAGE, "--%s does not apply to the table %s%s",
                             restrictions[i].name, export_tables[options->table]->name,
                             restrictions[i].instead);
    return true;
}

static bool check_output(const struct export_options *options, struct error *err)
{
    bool to_stdout = !options->output || strcmp(options->output, "-") == 0;
    bool is_binary = options->as_snapshot || options->format == RECORDS_MSGPACK;
    if (!to_stdout && path_ends_in(options->output, ".gz"))
        return error_set(err, STATUS_USAGE,
                         "cannot write a compressed file; pipe the output into 'gzip >%.60s'",
                         options->output);
    if (to_stdout && is_binary && isatty(STDOUT_FILENO))
        return error_set(err, STATUS_USAGE,
                         "refusing to write %s to a terminal; name a file with -o",
                         options->as_snapshot ? "a pickle" : "msgpack");
    return true;
}

/* Programs refuse CSV under these names. */
static bool has_foreign_ending(const char *path)
{
    static const char *const endings[] = {".xlsx",    ".xls",   ".ods", ".parquet",
                                          ".feather", ".arrow", ".h5",  ".html"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (path_ends_in(path, endings[i]))
            return true;
    return false;
}

static bool choose_format(struct export_options *options, struct error *err)
{
    const char *output = options->output;
    if (!output || options->format_given)
        return true;
    if (path_ends_in(output, ".jsonl") || path_ends_in(output, ".ndjson"))
        options->format = RECORDS_JSONL;
    else if (path_ends_in(output, ".msgpack"))
        options->format = RECORDS_MSGPACK;
    else if (path_ends_in(output, ".sqlite") || path_ends_in(output, ".sqlite3") ||
             path_ends_in(output, ".db"))
        options->format = EXPORT_SQLITE;
    else if (path_ends_in(output, ".pickle") || path_ends_in(output, ".pkl"))
        return error_set(err, STATUS_USAGE,
                         "cannot write a table as a pickle; use --as snapshot, or a name that ends "
                         "in .csv, .jsonl, .msgpack or .sqlite");
    else if (path_ends_in(output, ".json"))
        return error_set(
            err, STATUS_USAGE,
            "cannot write a table as one JSON value; use a name that ends in .jsonl, or "
            "--format");
    else if (has_foreign_ending(output))
        return error_set(err, STATUS_USAGE,
                         "cannot write %.60s; use a name that ends in .csv, .jsonl, .msgpack or "
                         ".sqlite, or --format",
                         strrchr(output, '.') + 1);
    return true;
}

/* A database holds all tables, and both moments at which segments are listed. */
static bool check_database(const struct export_options *options, struct error *err)
{
    if (options->table_given || options->at_given)
        return error_set(err, STATUS_USAGE,
                         "--%s does not apply to a database, which has all tables",
                         options->table_given ? "table" : "at");
    if (!options->output || strcmp(options->output, "-") == 0)
        return error_set(err, STATUS_USAGE, "a database needs a file: name it with -o");
    return true;
}

/* Rejects options that apply only to tables. */
static bool check_snapshot(const struct export_options *options, struct error *err)
{
    const struct {
        bool given;
        const char *name;
    } not_for_it[] = {{options->table_given, "table"},
                      {options->format_given, "format"},
                      {options->at_given, "at"},
                      {options->rules != NULL, "rules"}};
    for (size_t i = 0; i < sizeof(not_for_it) / sizeof(not_for_it[0]); i++)
        if (not_for_it[i].given)
            return error_set(err, STATUS_USAGE, "--%s cannot be combined with --as snapshot",
                             not_for_it[i].name);
    return true;
}

bool export_options_complete(struct export_options *options, struct error *err)
{
    if (options->as_snapshot)
        return check_snapshot(options, err) && check_output(options, err);
    if (!choose_format(options, err) || !check_output(options, err))
        return false;
    if (options->format == EXPORT_SQLITE)
        return check_database(options, err);
    if (!check_table(options, err))
        return false;
    if (!options->at_given && options->table != EXPORT_SITES)
        options->at.kind = WHEN_END;
    return true;
}
