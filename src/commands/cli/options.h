/* The command line of one subcommand, read by its table of options. */
#ifndef MEMSNAP_COMMANDS_CLI_OPTIONS_H
#define MEMSNAP_COMMANDS_CLI_OPTIONS_H

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

/* Usage, options and examples of the command, to standard output. */
void options_help(const struct command *command);

#endif
