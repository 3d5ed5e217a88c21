/* The command line of one subcommand, read by its table of options. */
#ifndef MEMSNAP_COMMANDS_CLI_OPTIONS_H
#define MEMSNAP_COMMANDS_CLI_OPTIONS_H

#include "commands/cli/capture.h"
#include "commands/cli/command.h"

enum {
    OPTIONS_END = -1,  /* no more options; the other arguments begin at argv[optind] */
    OPTIONS_BAD = '?', /* told on standard error already */
};

/* The next option's value, its argument in optarg. Options and other arguments may be mixed. */
int options_next(const struct command *command, int argc, char **argv);

/* One option of a command, its argument in optarg, into that command's own struct. */
typedef bool option_taker(int option, void *options, struct error *err);

/* Reads all options. False: the command ends with *status, for help was asked for and printed, or
 * an option is wrong, which was told. */
bool options_read(const struct command *command, int argc, char **argv, option_taker *take,
                  void *options, enum status *status);

/* Options that mean the same in every command that has them: their values, and their rows in a
 * command's table. */
enum {
    OPTION_SHARED = 2 * OPTION_LONG_ONLY, /* a command's own long options are below */
    OPTION_DEVICE = OPTION_SHARED,
    OPTION_JOBS,
    OPTION_MAX_MEMORY,
    OPTION_RANGE,
    OPTION_RULES,
    OPTION_UNITS,
    OPTION_OUTPUT = 'o',
};
#define ROW_DEVICE                                                                                 \
    {                                                                                              \
        OPTION_DEVICE, "device", "N", "only this device"                                           \
    }
#define ROW_JOBS                                                                                   \
    {                                                                                              \
        OPTION_JOBS, "jobs", "N", "read so many files at a time; 0: one a core"                    \
    }
#define ROW_MAX_MEMORY                                                                             \
    {                                                                                              \
        OPTION_MAX_MEMORY, "max-memory", "SIZE", "give up rather than take more"                   \
    }
#define ROW_MAX_MEMORY_OF_FILE                                                                     \
    {                                                                                              \
        OPTION_MAX_MEMORY, "max-memory", "SIZE", "give up rather than take more for one file"      \
    }
#define ROW_RANGE                                                                                  \
    {                                                                                              \
        OPTION_RANGE, "range", "A:B", "only the events from A up to B, as in analyze"              \
    }
#define ROW_RULES                                                                                  \
    {                                                                                              \
        OPTION_RULES, "rules", "FILE", "categories by rules of your own, as in analyze"            \
    }
#define ROW_UNITS                                                                                  \
    {                                                                                              \
        OPTION_UNITS, "units", "UNIT", "auto, bytes, KiB, MiB or GiB"                              \
    }
#define ROW_OUTPUT                                                                                 \
    {                                                                                              \
        OPTION_OUTPUT, "output", "FILE", "write there; the file appears once it is whole"          \
    }
#define ROW_HELP                                                                                   \
    {                                                                                              \
        OPTION_HELP, "help", NULL, "show this help"                                                \
    }

/* Where a command keeps what they set; NULL: it has no such option. */
struct shared_options {
    size_t *max_memory;
    struct window *range;
    int64_t *device;
    const char **rules, **output;
    enum unit *unit;
    size_t *jobs;
};

#define SHARED_CAPTURE(capture)                                                                    \
    .max_memory = &(capture).max_memory, .range = &(capture).window, .device = &(capture).device

/* Takes one of them, its argument in optarg. */
bool shared_option(int option, const struct shared_options *to, struct error *err);

/* Usage, options and examples of the command, to standard output. */
void options_help(const struct command *command);

#endif
