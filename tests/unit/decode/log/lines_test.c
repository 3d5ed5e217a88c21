/* How a log is cut into lines and texts, however hostile it is. */
#include <string.h>

#include "base/buffer.h"
#include "decode/log/lines.h"
#include "unit/decode/log/log.h"

static struct oom_log *load_and_release(struct buffer *text)
{
    ck_assert(!text->failed);
    struct oom_log *log = log_load(text->bytes, text->size);
    buffer_release(text);
    return log;
}

START_TEST(lines_are_counted)
{
    struct oom_log *log = log_load_text("a\nb\r\n" OOM_TEXT "\nc");
    ck_assert_uint_eq(log->lines, 4);
    ck_assert_uint_eq(log->items[0].message.line, 3);
    ck_assert_uint_eq(log->items[0].message.offset, 5);
    oom_log_destroy(log);
    log = log_load_text("10%\r20%\r" OOM_TEXT "\n"); /* a progress bar */
    ck_assert_uint_eq(log->lines, 1);
    ck_assert_uint_eq(log->count, 1);
    oom_log_destroy(log);
}
END_TEST

START_TEST(broken_lines_are_joined)
{
    struct oom_log *log = log_load_text(
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB (GPU 0; 4.00 \n"
        "GiB total capacity; 3.00 GiB already allocated; 0 bytes free; 3.50 GiB reserved \n"
        "in total by PyTorch) If reserved memory is >> allocated memory try setting \n");
    ck_assert_uint_eq(log->items[0].message.total.bytes, UINT64_C(4) << 30);
    ck_assert_uint_eq(log->items[0].message.reserved.bytes, UINT64_C(7) << 29);
    oom_log_destroy(log);
    /* in a frame, and in JSON */
    log = log_load_text("\xe2\x94\x82 CUDA out of memory. Tried to allocate 1.00 MiB. GPU 0 has a "
                        "\xe2\x94\x82\n\xe2\x94\x82 total capacity of 4.00 GiB of which 0 bytes is "
                        "free. \xe2\x94\x82\n");
    ck_assert_uint_eq(log->items[0].message.total.bytes, UINT64_C(4) << 30);
    ck_assert(log->items[0].message.free.is_stated);
    oom_log_destroy(log);
    log = log_load_text("{\"log\":\"Allocation on device 0 would exceed allowed memory. (out of "
                        "memory)\\nCurrently allocated     : 14.00 GiB\\nRequested               : "
                        "300.00 MiB\\n\"}");
    ck_assert_uint_eq(log->items[0].message.requested.bytes, 300 << 20);
    oom_log_destroy(log);
}
END_TEST

START_TEST(terminal_sequences_are_ignored)
{
    struct oom_log *log = log_load_text(
        "\x1b[1;35mtorch.OutOfMemoryError\x1b[0m: \x1b[35mCUDA out of\x1b[0m memory. Tried to "
        "allocate \x1b]8;;http://a\x1b\\20.00\x1b]8;;\a MiB. GPU 0 has a total capacity of 1.00 "
        "GiB "
        "of which 1.00 MiB is free.");
    ck_assert_uint_eq(log->count, 1);
    ck_assert_uint_eq(log->items[0].message.requested.bytes, 20 << 20);
    ck_assert_str_eq(symbols_text(log->symbols, log->items[0].message.exception).bytes,
                     "torch.OutOfMemoryError");
    oom_log_destroy(log);
    /* a sequence that never ends hides its line, not the next */
    log = log_load_text("\x1b]8;;" OOM_TEXT "\n" OOM_TEXT);
    ck_assert_uint_eq(log->count, 1);
    ck_assert_uint_eq(log->items[0].message.line, 2);
    oom_log_destroy(log);
}
END_TEST

/* A text at every place where a long line may be cut. */
START_TEST(long_lines_are_read)
{
    for (size_t before = LOG_LINE_MOST - LOG_LINE_OVERLAP - 600; before < LOG_LINE_MOST + 600;
         before += 97) {
        struct buffer text = BUFFER_INIT;
        for (size_t i = 0; i < before; i++)
            buffer_putc(&text, i % 50 ? 'x' : ' ');
        buffer_puts(&text, OOM_TEXT);
        for (size_t i = 0; i < 2 * LOG_LINE_MOST; i++)
            buffer_putc(&text, 'y');
        buffer_puts(&text, "\n" OOM_TEXT);
        struct oom_log *log = load_and_release(&text);
        ck_assert_uint_eq(log->count, 1);
        ck_assert_uint_eq(log->items[0].count, 2);
        ck_assert(log->items[0].message.unallocated.is_stated);
        ck_assert_uint_eq(log->lines, 2);
        oom_log_destroy(log);
    }
}
END_TEST

START_TEST(several_texts_on_a_line)
{
    struct oom_log *log =
        log_load_text("[" OOM_TEXT ", CUDA out of memory. Tried to allocate 1.00 GiB, CUDA out of "
                      "memory. Tried to allocate 2.00 GiB]");
    ck_assert_uint_eq(log->count, 3);
    ck_assert_uint_eq(log->items[2].message.requested.bytes, UINT64_C(2) << 30);
    oom_log_destroy(log);
}
END_TEST

START_TEST(memory_is_bounded)
{
    struct buffer text = BUFFER_INIT;
    for (int i = 0; i < OOM_LOG_MOST + 500; i++)
        buffer_printf(&text,
                      "[rank%d]:   File \"/a/%d.py\", line 1, in f\n[rank%d]: RuntimeError: CUDA "
                      "out of memory. Tried to allocate %d.00 MiB\n",
                      i, i, i, i + 1);
    struct oom_log *log = load_and_release(&text);
    ck_assert_uint_eq(log->total, OOM_LOG_MOST + 500);
    ck_assert_uint_eq(log->count, OOM_LOG_MOST);
    oom_log_destroy(log);
}
END_TEST

START_TEST(a_tight_budget_is_kept)
{
    struct input input;
    struct error err;
    ck_assert(input_from_memory(&input, OOM_TEXT, strlen(OOM_TEXT), 160 << 10, &err));
    ck_assert_ptr_null(oom_log_load_input(&input, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    oom_log_destroy(NULL);
}
END_TEST

TCase *log_lines_tests(void)
{
    TCase *tests = tcase_create("lines");
    tcase_add_test(tests, lines_are_counted);
    tcase_add_test(tests, broken_lines_are_joined);
    tcase_add_test(tests, terminal_sequences_are_ignored);
    tcase_add_test(tests, long_lines_are_read);
    tcase_add_test(tests, several_texts_on_a_line);
    tcase_add_test(tests, memory_is_bounded);
    tcase_add_test(tests, a_tight_budget_is_kept);
    return tests;
}
