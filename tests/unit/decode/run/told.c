#include <stdlib.h>
#include <string.h>

#include "decode/core/input.h"
#include "unit/decode/run/run.h"

bool told_decode(told_reader *read, struct told *told, const char *bytes, size_t size)
{
    struct input input;
    *told = (struct told){.text = BUFFER_INIT};
    ck_assert(input_from_memory(&input, bytes, size, 16 << 20, &told->err));
    told->symbols = symbols_create(input.budget, &told->err);
    ck_assert(told->symbols != NULL);
    bool ok = read(&input.source, told);
    symbols_destroy(told->symbols);
    struct budget *budget = input.budget;
    input_close(&input);
    ck_assert_uint_eq(budget->used, 0);
    free(budget);
    return ok;
}

void told_check(told_reader *read, const char *text, const char *wanted)
{
    struct told told;
    ck_assert_msg(told_decode(read, &told, text, strlen(text)), "%s", told.err.text);
    ck_assert_str_eq(told.text.size ? told.text.bytes : "", wanted);
    buffer_release(&told.text);
}

void told_check_refused(told_reader *read, const char *text, const char *message)
{
    struct told told;
    ck_assert_msg(!told_decode(read, &told, text, strlen(text)), "taken: %s", text);
    ck_assert_str_eq(told.err.text, message);
    ck_assert_int_eq(told.err.status, STATUS_BAD_INPUT);
    buffer_release(&told.text);
}
