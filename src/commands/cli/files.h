/* The files that a command works on, from what is named to what is written.
 *
 * The order is the sandbox's: rules and inputs are chosen, the output and all inputs opened, the
 * sandbox entered, and only then is anything of the inputs read. Whatever fails is told. */
#ifndef MEMSNAP_COMMANDS_CLI_FILES_H
#define MEMSNAP_COMMANDS_CLI_FILES_H

#include "commands/cli/capture.h"
#include "commands/cli/inputs.h"
#include "commands/cli/output.h"

typedef enum status files_work(void *self, struct inputs *inputs);

/* Has the work done with the inputs that are named (as inputs_choose() takes them). */
enum status files_run(char **named, int count, files_work *work, void *self);
/* The same with the user's rules (as rules_file_read() takes `rules`) in `capture` meanwhile. */
enum status files_run_with_rules(const char *rules, struct capture_options *capture, char **named,
                                 int count, files_work *work, void *self);

/* Opens the output and the inputs, and enters the sandbox. Where it is not STATUS_OK, there is no
 * output. */
enum status files_open(struct output *output, const char *path, struct inputs *inputs);
/* With `ok` puts the output in its place; else leaves none, and tells the error of the file
 * `blamed`, or of none with NULL. */
enum status files_close(struct output *output, bool ok, const char *blamed,
                        const struct error *err);

typedef bool files_writer(const void *self, struct inputs *inputs, FILE *out, struct error *err);

/* Both around what `write` makes of the first input, whose fault a failure is. */
enum status files_write(const char *path, struct inputs *inputs, files_writer *write,
                        const void *self);

#endif
