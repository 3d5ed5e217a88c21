/* Lines on standard error, each beginning with "memsnap: ". */
#ifndef MEMSNAP_COMMANDS_CLI_COMPLAIN_H
#define MEMSNAP_COMMANDS_CLI_COMPLAIN_H

#include <stddef.h>

#include "base/error.h"

/* One line; whatever the arguments hold is escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, returning STATUS_USAGE. */
enum status complain_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "memsnap: " and the error, which names what failed. Returns its status. */
enum status complain_failure(const struct error *err);

/* "memsnap: FILE: byte 1234: expected ..." Returns the error's status. */
enum status complain_error(const char *path, const struct error *err);

/* "standard input" for "-". */
const char *path_name(const char *path);

/* "Did you mean ...?": the nearest of several words. */
struct closest {
    const char *word; /* what was typed */
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
};

/* Feed every candidate; `best` is the nearest that a slip of the fingers explains. */
void closest_offer(struct closest *closest, const char *candidate);

#endif
