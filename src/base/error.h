/* Error reporting, common to all rooms.
 *
 * A function that can fail returns bool and takes a `struct error *` as its last argument. On false
 * the error is filled and no output argument has been touched; on true the error is left alone.
 * Only src/commands and src/main.c print errors and turn them into an exit status. */
#ifndef MEMSNAP_BASE_ERROR_H
#define MEMSNAP_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* The values are the program's exit statuses (see memsnap(1)). */
enum status {
    STATUS_OK = 0,
    STATUS_CHECK_FAILED = 1, /* a check failed or a stated limit was exceeded */
    STATUS_USAGE = 2,        /* wrong command line */
    STATUS_BAD_INPUT = 3,    /* the input is malformed */
    STATUS_LIMIT = 4,        /* a resource limit was reached */
    STATUS_IO = 5,           /* reading or writing failed, or an internal error */
};

struct error {
    enum status status;
    bool has_offset;
    uint64_t offset; /* byte offset in the decoded input, when has_offset */
    char text[232];  /* one line; may quote input bytes unescaped */
};

/* Both fill `*err` and return false, so that callers can `return error_set(...)`. */
bool error_set(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool error_set_at(struct error *err, enum status status, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* STATUS_LIMIT: malloc() or the like failed. */
bool error_out_of_memory(struct error *err);

#endif
