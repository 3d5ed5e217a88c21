/* Formats sizes and times for people, and parses what they type. */
#ifndef MEMSNAP_BASE_UNITS_H
#define MEMSNAP_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

enum unit { UNIT_AUTO, UNIT_BYTES, UNIT_KIB, UNIT_MIB, UNIT_GIB };

#define UNITS_TEXT_SIZE 48

/* "11.57 GiB", "512 B"; with UNIT_BYTES "1,024 B". Returns `out`. UNIT_AUTO chooses the largest
 * unit in which the value is at least 1. A negative value has a minus sign. */
const char *units_bytes(char out[UNITS_TEXT_SIZE], int64_t bytes, enum unit unit);

/* "1,234,567" */
const char *units_count(char out[UNITS_TEXT_SIZE], uint64_t count);

/* "once", "1,234 times". */
const char *units_times(char out[UNITS_TEXT_SIZE], uint64_t count);

/* "+1.234567 s", "+12.3 ms", "+800 us": a duration of `microseconds`, always with its sign */
const char *units_duration(char out[UNITS_TEXT_SIZE], int64_t microseconds);

/* auto|bytes|KiB|MiB|GiB, case ignored; false for any other text */
bool units_parse(const char *text, enum unit *unit);

/* "70GiB", "512MiB", "1.5G", "4096" -> bytes; false when malformed, negative or beyond 2^63-1.
 * As in GNU tools K, M, G, T and KiB... are powers of 1024, KB... of 1000; case is ignored, and
 * spaces may stand before the unit. Fractions of a byte are dropped. */
bool units_parse_bytes(const char *text, uint64_t *bytes);

#endif
