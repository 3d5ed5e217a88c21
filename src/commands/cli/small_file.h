/* Files that a user writes by hand for memsnap, read whole before the sandbox is entered. */
#ifndef MEMSNAP_COMMANDS_CLI_SMALL_FILE_H
#define MEMSNAP_COMMANDS_CLI_SMALL_FILE_H

#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"

/* Adds all of `file`, which is `path`, to `text`; STATUS_USAGE where that is more than `most` bytes
 * of `what`. */
bool small_file_read(FILE *file, const char *path, size_t most, const char *what,
                     struct buffer *text, struct error *err);
/* The same, opened and closed here. */
bool small_file_open(const char *path, size_t most, const char *what, struct buffer *text,
                     struct error *err);

#endif
