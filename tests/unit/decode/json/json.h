/* Shared by the tests of the JSON snapshot decoder. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_JSON_JSON_H
#define MEMSNAP_TESTS_UNIT_DECODE_JSON_JSON_H

#include "unit/rows.h"

#define JSON_PLENTY ((size_t)64 << 20)

TCase *json_rows_tests(void);
TCase *json_refusal_tests(void);
TCase *json_span_tests(void);
TCase *json_stream_tests(void);
TCase *sniff_tests(void);
TCase *pytext_tests(void);

struct rows_outcome json_rows(const void *bytes, size_t size, size_t limit);
void json_check(const char *json, const char *rows);
void json_check_refused(const char *json, enum status status, uint64_t offset, const char *text);

#endif
