/* Files that a user writes by hand for memsnap, read whole before the sandbox is entered. For all
 * of them "-" is standard input, as input_open() has it. */
#ifndef MEMSNAP_COMMANDS_CLI_SMALL_FILE_H
#define MEMSNAP_COMMANDS_CLI_SMALL_FILE_H

#include "analysis/code/own_rules.h"
#include "base/buffer.h"
#include "base/error.h"

/* Adds the whole file to `text`; STATUS_USAGE where that is more than `most` bytes of `what`. */
bool small_file_read(const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err);

/* A user's own rules for categories: those of the file `path`, or with "none" no rules. With NULL
 * those of $XDG_CONFIG_HOME/memsnap/rules or ~/.config/memsnap/rules, if there is such a file.
 * `*rules` is NULL where there are none. */
bool rules_file_read(const char *path, struct own_rules **rules, struct error *err);

#endif
