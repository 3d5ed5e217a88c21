/* Writes a file of summaries: memsnap merge, and analyze --summary. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_WRITE_H
#define MEMSNAP_COMMANDS_SUMMARY_WRITE_H

#include "commands/summary/gather.h"

/* Opens the inputs and the output, enters the sandbox, and writes the summaries of all inputs, each
 * once. The options ask for bins and for no curves. Reports failures. */
enum status summaries_write(struct inputs *inputs, const struct gather_options *options,
                            const char *output);

#endif
