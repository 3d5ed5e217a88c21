/* The test cases of the pickle decoder, one a file, and what they share. */
#ifndef MEMSNAP_TESTS_UNIT_PICKLE_PICKLE_H
#define MEMSNAP_TESTS_UNIT_PICKLE_PICKLE_H

#include "base/buffer.h"
#include "decode/snapshot.h"
#include "unit/unit.h"

TCase *utf8_tests(void);
TCase *value_tests(void);
TCase *opcodes_tests(void);
TCase *shapes_tests(void);
TCase *refusals_tests(void);

/* A byte string of a literal, NUL bytes included. */
#define BYTES(literal) (literal), sizeof(literal) - 1

struct outcome {
    bool ok;
    struct error err;
    struct decoded decoded;
    char rows[4096]; /* a line a row, in the order the decoder gave them */
};

/* Decodes the bytes as a snapshot pickle; `limit` bytes of memory (0: plenty). */
struct outcome decode_rows(const void *bytes, size_t size, size_t limit);

#endif
