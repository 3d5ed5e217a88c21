/* A subcommand: a row in the table that drives dispatch, help and shell completion. */
#ifndef MEMSNAP_COMMANDS_CLI_COMMAND_H
#define MEMSNAP_COMMANDS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define OPTION_HELP 'h'

/* An option. Used by getopt_long, --help and the test that the man page lists it. */
struct option_spec {
    int value;            /* the letter of the short form; or at least OPTION_LONG_ONLY */
    const char *name;     /* without the dashes */
    const char *argument; /* its name in the help; "[=WHAT]" if optional; NULL: takes
                             none */
    const char *help;
};

#define OPTION_LONG_ONLY 256

/* The possible arguments of an option, for shell completion. */
struct option_words {
    const char *option; /* name of the option */
    const char *words;  /* separated by spaces; NULL: put() prints them */
    void (*put)(void);
};

#define WORDS_MOMENT     "peak end forward backward optimizer"
#define WORDS_UNITS      "auto bytes KiB MiB GiB"
#define WORDS_ALLOC_CONF "expandable_segments:True max_split_size_mb:128 roundup_power2_divisions:8"

struct command {
    const char *name;
    const char *summary;   /* one line, for the list */
    const char *arguments; /* "[OPTION]... [FILE]..." */
    const char *about;     /* a paragraph or two for --help, ending in a newline */
    const char *examples;  /* ready to paste, indented, ending in a newline; NULL: none */
    const struct option_spec *options; /* ends with a NULL name; read by command_options() */
    const struct option_spec *(*make_options)(void); /* used if there is no constant table */
    const struct option_words *words;                /* ends with a NULL option; NULL: none */
    bool spreads;           /* the command divides its work among processes of MPI: see
                               commands/cluster/cluster.h */
    bool stops_at_argument; /* options end at the first other argument, which is a program to run */
    void (*help_more)(void); /* prints more of --help, below the options; NULL: nothing */
    enum status (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

/* Ends with a NULL name. */
static inline const struct option_spec *command_options(const struct command *command)
{
    return command->make_options ? command->make_options() : command->options;
}

extern const struct command *const commands[]; /* ends with NULL */

const struct command *command_find(const char *name); /* NULL: no such command */

extern const struct command command_analyze, command_backends, command_check, command_convert,
    command_diff, command_dryrun, command_dump, command_export, command_flame, command_help,
    command_merge, command_oom, command_plot, command_ranks, command_replay, command_shard,
    command_suggest, command_trend, command_version;

/* Reports an unknown command, and suggests a similar one. */
enum status command_unknown(const char *name);

/* Print the output of `memsnap --help` and `memsnap --version`. */
void help_overview(void);
void version_print(void);

#endif
