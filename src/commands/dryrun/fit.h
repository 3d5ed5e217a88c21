/* `memsnap dryrun --fit`: runs the program with several values of a variable, and finds the largest
 * that fits. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_FIT_H
#define MEMSNAP_COMMANDS_DRYRUN_FIT_H

#include "commands/dryrun/options.h"

enum status dryrun_fit(const struct dryrun_options *options, char *const *arguments);

#endif
