#include <inttypes.h>
#include <string.h>

#include "unit/decode/json/json.h"

struct rows_outcome json_rows(const void *bytes, size_t size, size_t limit)
{
    return rows_decode(decode_json_snapshot, bytes, size, limit);
}

void json_check(const char *json, const char *rows)
{
    struct rows_outcome outcome = json_rows(json, strlen(json), JSON_PLENTY);
    ck_assert_msg(outcome.ok, "%s: %s at %" PRIu64, json, outcome.err.text, outcome.err.offset);
    ck_assert_str_eq(outcome.rows.bytes, rows);
    buffer_release(&outcome.rows);
}

void json_check_refused(const char *json, enum status status, uint64_t offset, const char *text)
{
    struct rows_outcome outcome = json_rows(json, strlen(json), JSON_PLENTY);
    ck_assert_msg(!outcome.ok, "taken: %s", json);
    ck_assert_msg(strstr(outcome.err.text, text) != NULL, "%s: %s", json, outcome.err.text);
    ck_assert_msg(outcome.err.has_offset && outcome.err.offset == offset, "%s: offset %" PRIu64,
                  json, outcome.err.offset);
    ck_assert_int_eq(outcome.err.status, status);
    buffer_release(&outcome.rows);
}
