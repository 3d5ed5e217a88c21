/* Looks at bytes that may be text. */
#ifndef MEMSNAP_DECODE_CORE_PLAIN_H
#define MEMSNAP_DECODE_CORE_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

/* The first byte that is no white space; `end` if there is none. */
const uint8_t *bytes_skip_space(const uint8_t *p, const uint8_t *end);
/* The same, after skipping a UTF-8 byte order mark if there is one. */
const uint8_t *bytes_skip_start(const uint8_t *p, const uint8_t *end);
/* True if the only control characters are tab, line feed, carriage return, form feed and escape. */
bool bytes_are_text(const uint8_t *p, const uint8_t *end);

#endif
