/* Opens the input and output files of a command.
 *
 * The sandbox requires this order: select rules and inputs, open the output and all inputs, enter
 * the sandbox, and only then read the inputs. All failures are reported here. */
#ifndef MEMSNAP_COMMANDS_CLI_FILES_H
#define MEMSNAP_COMMANDS_CLI_FILES_H

#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/inputs.h"
#include "commands/cli/output.h"

typedef enum status files_work(void *self, struct inputs *inputs);

/* Runs the work with the inputs that inputs_choose() selects, of the files that paths_expand()
 * chooses. */
enum status files_run(char **named, int count, const struct file_choice *choice, files_work *work,
                      void *self);
/* The same with the user's rules in `capture`; `rules` is as for rules_file_read(). */
enum status files_run_with_rules(const char *rules, struct capture_options *capture, char **named,
                                 int count, const struct file_choice *choice, files_work *work,
                                 void *self);

/* Opens the output and the inputs, and enters the sandbox. `output` is open only if it returns
 * STATUS_OK. */
enum status files_open(struct output *output, const char *path, struct inputs *inputs);
/* Commits the output if `ok`. Otherwise discards it and reports the error, for the file `blamed` if
 * that is not NULL. */
enum status files_close(struct output *output, bool ok, const char *blamed,
                        const struct error *err);

typedef bool files_writer(const void *self, struct inputs *inputs, FILE *out, struct error *err);

/* Calls both around `write`, which converts the first input. A failure is reported for that input.
 */
enum status files_write(const char *path, struct inputs *inputs, files_writer *write,
                        const void *self);

#endif
