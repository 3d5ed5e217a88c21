/* A subcommand: a row in the table that drives dispatch, help, and whatever else wants to know the
 * command line, such as shell completion. */
#ifndef MEMSNAP_COMMANDS_CLI_COMMAND_H
#define MEMSNAP_COMMANDS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define OPTION_HELP 'h'

/* Declared once; serves getopt_long, --help and the check that the man page names it. */
struct option_spec {
    int value;            /* a letter is the short form too; else from OPTION_LONG_ONLY up */
    const char *name;     /* without the dashes */
    const char *argument; /* what to call it in the help; "[=WHAT]": may be left out; NULL: takes
                             none */
    const char *help;
};

#define OPTION_LONG_ONLY 256

/* The words that an option's argument is known to be, for shells to complete. */
struct option_words {
    const char *option; /* its name */
    const char *words;  /* separated by spaces; NULL: those that put() prints */
    void (*put)(void);
};

#define WORDS_MOMENT "peak end"
#define WORDS_UNITS  "auto bytes KiB MiB GiB"

struct command {
    const char *name;
    const char *summary;   /* one line, for the list */
    const char *arguments; /* "[OPTION]... [FILE]..." */
    const char *about;     /* a paragraph or two for --help, ending in a newline */
    const char *examples;  /* ready to paste, indented, ending in a newline; NULL: none */
    const struct option_spec *options; /* ends with a NULL name; read by command_options() */
    const struct option_spec *(*make_options)(void); /* where there is no constant table */
    const struct option_words *words;                /* ends with a NULL option; NULL: none */
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
    command_diff, command_dump, command_export, command_flame, command_help, command_plot,
    command_suggest, command_version;

/* Says that there is no such command, and which may have been meant. */
enum status command_unknown(const char *name);

/* What `memsnap --help` and `memsnap --version` print, to standard output. */
void help_overview(void);
void version_print(void);

#endif
