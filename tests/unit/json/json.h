/* What the tests of the JSON snapshot decoder share. */
#ifndef MEMSNAP_TESTS_UNIT_JSON_JSON_H
#define MEMSNAP_TESTS_UNIT_JSON_JSON_H

#include "base/buffer.h"
#include "decode/snapshot.h"
#include "unit/unit.h"

#define JSON_PLENTY ((size_t)64 << 20)

TCase *json_rows_tests(void);
TCase *json_refusal_tests(void);
TCase *json_stream_tests(void);
TCase *sniff_tests(void);
TCase *pytext_tests(void);

struct json_outcome {
    bool ok;
    struct error err;
    struct decoded decoded;
    struct buffer rows; /* a line a row; to be released */
};

/* Decodes under a memory limit, and checks that none of it stays counted. */
struct json_outcome json_rows(const void *bytes, size_t size, size_t limit);
void json_check(const char *json, const char *rows);
void json_check_refused(const char *json, enum status status, uint64_t offset, const char *text);

#endif
