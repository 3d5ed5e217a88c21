/* Bytes that are somewhere else, and what can be asked of them whatever they hold. */
#ifndef MEMSNAP_BASE_TEXT_H
#define MEMSNAP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *bytes; /* from symbols: followed by a NUL byte; may hold NUL and invalid UTF-8 */
    size_t size;
};

/* By bytes; what is a beginning of the other comes first. */
int text_compare(struct text a, struct text b);

/* Whether it is a whole number of digits alone, and that. */
bool text_number(struct text text, int64_t *number);

/* At most `most` bytes from the beginning, or to the end; no character of valid UTF-8 is cut. */
struct text text_first(struct text text, size_t most);
struct text text_last(struct text text, size_t most);

#endif
