/* Parses the command line of one subcommand by its table of options. */
#ifndef MEMSNAP_COMMANDS_CLI_OPTIONS_H
#define MEMSNAP_COMMANDS_CLI_OPTIONS_H

#include "analysis/live/when.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"

enum {
    OPTIONS_END = -1,  /* no more options; the other arguments begin at argv[optind] */
    OPTIONS_BAD = '?', /* already reported on standard error */
};

/* Returns the value of the next option, with its argument in optarg. Options and other arguments
 * may be mixed. */
int options_next(const struct command *command, int argc, char **argv);

/* Stores one option, with its argument in optarg, in the command's own struct. */
typedef bool option_taker(int option, void *options, struct error *err);

/* Reads all options. If it returns false, the command ends with *status: either it printed help, or
 * it reported a wrong option. */
bool options_read(const struct command *command, int argc, char **argv, option_taker *take,
                  void *options, enum status *status);

/* Options with the same meaning in every command: their values, and their rows in the tables. */
enum {
    OPTION_SHARED = 2 * OPTION_LONG_ONLY, /* the commands' own long options are smaller */
    OPTION_AT = OPTION_SHARED,
    OPTION_DEVICE,
    OPTION_JOBS,
    OPTION_MAX_MEMORY,
    OPTION_RANGE,
    OPTION_OF_RANK,
    OPTION_RANK_PATTERN,
    OPTION_RULES,
    OPTION_UNITS,
    OPTION_OUTPUT = 'o',
};
/* `what` is the text before the words that name a moment; it ends a line. */
#define ROW_AT(what)                                                                               \
    {                                                                                              \
        OPTION_AT, "at", "WHEN",                                                                   \
            what "peak, end, the number of an event, a time (+1.5s\n"                              \
                 "or @MICROSECONDS), or the peak of a phase (forward,\n"                           \
                 "backward@2 for the second one) or an annotation"                                 \
    }
#define ROW_DEVICE                                                                                 \
    {                                                                                              \
        OPTION_DEVICE, "device", "N", "look only at device N, or at host"                          \
    }
#define ROW_JOBS                                                                                   \
    {                                                                                              \
        OPTION_JOBS, "jobs", "N", "process N files in parallel (0: one per core)"                  \
    }
#define ROW_MAX_MEMORY                                                                             \
    {                                                                                              \
        OPTION_MAX_MEMORY, "max-memory", "SIZE", "limit memsnap's memory, for example 512MiB"      \
    }
#define ROW_MAX_MEMORY_OF_FILE                                                                     \
    {                                                                                              \
        OPTION_MAX_MEMORY, "max-memory", "SIZE",                                                   \
            "limit memsnap's memory for a file, for example 512MiB"                                \
    }
#define ROW_RANGE                                                                                  \
    {                                                                                              \
        OPTION_RANGE, "range", "A:B", "look only at these events, as in analyze"                   \
    }
#define ROW_RANK                                                                                   \
    {                                                                                              \
        OPTION_OF_RANK, "rank", "N", "read only the files of rank N, for example in a folder"      \
    }
#define ROW_RANK_PATTERN                                                                           \
    {                                                                                              \
        OPTION_RANK_PATTERN, "rank-pattern", "TEXT",                                               \
            "find the rank of a capture by a part of its path, with\n"                             \
            "{RANK} for the number, for example worker{RANK}.pkl"                                  \
    }
#define ROW_RULES                                                                                  \
    {                                                                                              \
        OPTION_RULES, "rules", "FILE", "decide categories by rules of your own, as in analyze"     \
    }
#define ROW_UNITS                                                                                  \
    {                                                                                              \
        OPTION_UNITS, "units", "UNIT", "print sizes in bytes, KiB, MiB, GiB or auto"               \
    }
#define ROW_OUTPUT                                                                                 \
    {                                                                                              \
        OPTION_OUTPUT, "output", "FILE", "write to FILE instead of standard output"                \
    }
#define ROWS_RANK_AND_OUTPUT ROW_RANK, ROW_RANK_PATTERN, ROW_OUTPUT
/* The rows at the end of every table of options. */
#define ROWS_END                                                                                   \
    {OPTION_HELP, "help", NULL, "print this help"},                                                \
    {                                                                                              \
        0, NULL, NULL, NULL                                                                        \
    }

/* Points to the fields that the shared options set; NULL if the command lacks the option. */
struct shared_options {
    size_t *max_memory;
    struct window *range;
    int64_t *device;
    const char **rules, **output;
    enum unit *unit;
    size_t *jobs;
    struct when *at;
    struct file_choice *files; /* --rank, --rank-pattern */
};

#define SHARED_CAPTURE(capture)                                                                    \
    .max_memory = &(capture).max_memory, .range = &(capture).window, .device = &(capture).device

/* Stores one shared option, with its argument in optarg. */
bool shared_option(int option, const struct shared_options *to, struct error *err);

/* Sets `*index` to the position of optarg in the option's row of `words`; `what` names the option
 * in the error. */
bool option_word(const struct option_words *words, const char *option, const char *what,
                 unsigned *index, struct error *err);

/* Sets `*first` to the name of the option, unless it is set, if `listed`, which ends with 0, has
 * the option. */
void option_note(int option, const struct option_spec *specs, const int *listed,
                 const char **first);

/* Prints usage, options and examples of the command to standard output. */
void options_help(const struct command *command);

#endif
