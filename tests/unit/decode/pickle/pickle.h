/* The test cases of the pickle decoder, one per file, and their shared helpers. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_PICKLE_PICKLE_H
#define MEMSNAP_TESTS_UNIT_DECODE_PICKLE_PICKLE_H

#include "unit/rows.h"

TCase *value_tests(void);
TCase *opcodes_tests(void);
TCase *shapes_tests(void);
TCase *patterns_tests(void);
TCase *refusals_tests(void);

/* A byte string of a literal, NUL bytes included. */
#define BYTES(literal) (literal), sizeof(literal) - 1

#define PLENTY ((size_t)1 << 30)

/* The error at the end of decoding. Its status is STATUS_OK if there was none. */
struct error pickle_end(const void *bytes, size_t size, size_t limit, struct decoded *decoded);
/* Checks that the bytes decode to these rows. */
void pickle_check(const void *bytes, size_t size, const char *rows);

#endif
