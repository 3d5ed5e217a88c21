/* Small files that users write by hand, read before the sandbox is entered. "-" is standard input,
 * as in input_open(). */
#ifndef MEMSNAP_COMMANDS_CLI_SMALL_FILE_H
#define MEMSNAP_COMMANDS_CLI_SMALL_FILE_H

#include "analysis/code/own_rules.h"
#include "base/buffer.h"
#include "base/error.h"

/* Appends the whole file to `text`. STATUS_USAGE if it has more than `most` bytes; the error calls
 * the content `what`. */
bool small_file_read(const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err);

/* Reads the user's rules for categories from the file `path`; "none" means no rules. NULL means
 * $XDG_CONFIG_HOME/memsnap/rules or ~/.config/memsnap/rules, if that exists. `*rules` is NULL if
 * there are no rules. */
bool rules_file_read(const char *path, struct own_rules **rules, struct error *err);

#endif
