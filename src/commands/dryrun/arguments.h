/* The command with a value in place of "{NAME}". */
#ifndef MEMSNAP_COMMANDS_DRYRUN_ARGUMENTS_H
#define MEMSNAP_COMMANDS_DRYRUN_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* True if an argument contains "{NAME}". */
bool arguments_use(char *const *arguments, const char *name);

/* A copy of the arguments, with the value in all places; NULL if out of memory. */
char **arguments_with(char *const *arguments, const char *name, uint64_t value);
void arguments_free(char **arguments); /* NULL is allowed */

#endif
