/* Bytes that may be text. */
#ifndef MEMSNAP_DECODE_CORE_PLAIN_H
#define MEMSNAP_DECODE_CORE_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

/* The first byte that is no white space; `end` if there is none. */
const uint8_t *bytes_skip_space(const uint8_t *p, const uint8_t *end);
/* The same after an optional byte order mark. */
const uint8_t *bytes_skip_start(const uint8_t *p, const uint8_t *end);
/* True if there are no control characters but those of texts and terminals. */
bool bytes_are_text(const uint8_t *p, const uint8_t *end);

#endif
