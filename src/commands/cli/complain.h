/* Messages on standard error: one line each, beginning with "memsnap: ". */
#ifndef MEMSNAP_COMMANDS_CLI_COMPLAIN_H
#define MEMSNAP_COMMANDS_CLI_COMPLAIN_H

#include <stddef.h>

#include "base/error.h"

/* Prints one line; unsafe characters in the arguments are escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, returning STATUS_USAGE. */
enum status complain_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the error, which names its subject, and returns its status. */
enum status complain_failure(const struct error *err);

/* Prints "memsnap: FILE: byte 1234: expected ..." and returns the status of the error. */
enum status complain_error(const char *path, const struct error *err);

/* "standard input" for "-". */
const char *path_name(const char *path);
/* True if the path ends in `ending`, such as ".json", and is longer than that. */
bool path_ends_in(const char *path, const char *ending);

/* Finds the closest of several words, for "did you mean ...?". */
struct closest {
    const char *word; /* as typed by the user */
    const char *best; /* NULL if no word is close enough */
    size_t distance;
};

/* Offers a candidate; `best` becomes the closest one that a typing error explains. */
void closest_offer(struct closest *closest, const char *candidate);

#endif
