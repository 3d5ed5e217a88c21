#include "unit/decode/pickle/pickle.h"

struct error pickle_end(const void *bytes, size_t size, size_t limit, struct decoded *decoded)
{
    struct rows_outcome outcome = rows_decode(decode_pickle_snapshot, bytes, size, limit);
    ck_assert_int_eq(outcome.ok, outcome.err.status == STATUS_OK);
    *decoded = outcome.decoded;
    buffer_release(&outcome.rows);
    return outcome.err;
}

void pickle_check(const void *bytes, size_t size, const char *rows)
{
    struct rows_outcome outcome = rows_decode(decode_pickle_snapshot, bytes, size, PLENTY);
    ck_assert_msg(outcome.ok, "%s", outcome.err.text);
    ck_assert_str_eq(outcome.rows.bytes, rows);
    buffer_release(&outcome.rows);
}
