/* Which process wrote a line, and the tracebacks above an error. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "unit/decode/log/log.h"

static void expect_functions(const char *text, const char *functions)
{
    struct oom_log *log = log_load_text(text);
    ck_assert_uint_eq(log->count, 1);
    ck_assert_str_eq(log_functions(log, &log->items[0].message), functions);
    oom_log_destroy(log);
}

START_TEST(tracebacks_are_read)
{
    expect_functions("Traceback (most recent call last):\n"
                     "  File \"/app/train.py\", line 10, in <module>\n    main()\n    ^^^^^^\n"
                     "  File \"/app/model.py\", line 39, in forward\n    a @ b\n" OOM_TEXT,
                     "forward:39 <module>:10");
    /* with colours, as Python 3.13 prints */
    expect_functions("  File \x1b[35m\"/app/train.py\"\x1b[0m, line \x1b[35m10\x1b[0m, in "
                     "\x1b[35mmain\x1b[0m\n" OOM_TEXT,
                     "main:10");
    /* Rich */
    expect_functions("\xe2\x94\x82 /app/train.py:10 in <module>      \xe2\x94\x82\n"
                     "\xe2\x94\x82 \xe2\x9d\xb1 10 main()            \xe2\x94\x82\n"
                     "\xe2\x94\x82 /app/model.py:39 in forward       \xe2\x94\x82\n" OOM_TEXT,
                     "forward:39 <module>:10");
    /* IPython, new and old */
    expect_functions("Cell In[3], line 5\n"
                     "File /app/model.py:39, in Net.forward(self, x)\n" OOM_TEXT,
                     "Net.forward:39 <module>:5");
    expect_functions("OutOfMemoryError       Traceback (most recent call last)\n"
                     "/app/model.py in forward(self, x)\n     38   b\n---> 39   a @ b\n" OOM_TEXT,
                     "forward:39");
}
END_TEST

/* Of Kubernetes, of a filter such as ts, and of mpirun --tag-output. */
START_TEST(tracebacks_have_prefixes)
{
    static const char *const prefixes[] = {
        "2026-07-01T12:33:44.123456789Z ",
        "2026-07-01T12:33:44.123+02:00 stderr F ",
        "2026-07-01 12:33:44,123 ",
        "[2026-07-01 12:33:44] [rank3]: ",
        "[1,3]<stderr>:",
    };
    char text[1000];
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const char *prefix = prefixes[i];
        snprintf(text, sizeof(text),
                 "%sTraceback (most recent call last):\n%s  File \"/a.py\", line "
                 "1, in f\n%s    y = g(x)\n%s" OOM_TEXT,
                 prefix, prefix, prefix, prefix);
        expect_functions(text, "f:1");
    }
    /* another exception ends the traceback, whatever is in front of it */
    expect_functions("2026-07-01 12:33:44   File \"/a.py\", line 1, in f\n"
                     "2026-07-01 12:33:45 KeyError: 'x'\n2026-07-01 12:33:46 " OOM_TEXT,
                     "");
}
END_TEST

START_TEST(a_traceback_belongs_to_one_error)
{
    /* of another exception */
    expect_functions("Traceback (most recent call last):\n  File \"/a.py\", line 1, in f\n"
                     "KeyError: 'x'\n" OOM_TEXT,
                     "");
    /* "During handling of the above exception, ..." */
    expect_functions("  File \"/a.py\", line 1, in f\nKeyError: 'x'\n\nTraceback (most recent call "
                     "last):\n  File \"/b.py\", line 2, in g\n" OOM_TEXT,
                     "g:2");
    /* lines of other processes without a prefix */
    expect_functions("  File \"/a.py\", line 1, in f\nstep 3 of 9\n" OOM_TEXT, "f:1");
}
END_TEST

#define KILLED "RuntimeError: DataLoader worker (pid 22) is killed by signal: Killed. \n"

START_TEST(an_error_told_twice_counts_once)
{
    static const struct {
        const char *text;
        size_t count;
        uint64_t line; /* of the last */
        enum oom_source source;
    } cases[] = {
        {KILLED "RuntimeError: DataLoader worker (pid(s) 22) exited unexpectedly\n", 1, 1,
         OOM_SOURCE_WORKER},
        {KILLED "RuntimeError: DataLoader worker (pid(s) 23) exited unexpectedly\n", 2, 2,
         OOM_SOURCE_EXIT},
        {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
         "shared memory (shm).\nRuntimeError: DataLoader worker (pid 22) is killed by signal: Bus "
         "error. \n",
         1, 2, OOM_SOURCE_SHM},
        {"THCudaCheck FAIL file=/THC/THCStorage.cu line=58 error=2 : out of memory\n"
         "Traceback (most recent call last):\n  File \"/a.py\", line 1, in f\n"
         "RuntimeError: cuda runtime error (2) : out of memory at /THC/THCStorage.cu:58\n",
         1, 4, OOM_SOURCE_OLD},
        {"THCudaCheck FAIL file=/THC/THCStorage.cu line=58 error=2 : out of memory\n" KILLED, 2, 2,
         OOM_SOURCE_WORKER},
        {"THCudaCheck FAIL file=/THC/a.cu line=5 error=2 : out of memory\n"
         "THCudaCheck FAIL file=/THC/b.cu line=6 error=2 : out of memory\nstep 3\n",
         1, 1, OOM_SOURCE_OLD},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct oom_log *log = log_load_text(cases[i].text);
        ck_assert_msg(log->count == cases[i].count, "case %zu: %zu", i, log->count);
        const struct oom_message *message = &log->items[log->count - 1].message;
        ck_assert_uint_eq(message->line, cases[i].line);
        ck_assert_int_eq(message->source, cases[i].source);
        oom_log_destroy(log);
    }
}
END_TEST

START_TEST(ranks_are_kept_apart)
{
    static const char *const prefixes[][2] = {
        {"[rank0]: ", "[rank1]: "},
        {"[default0]:[rank0]: ", "[default1]:[rank1]: "},
        {"2026-11-22 09:00:01 host3 [rank0]: ", "2026-11-22 09:00:02 host3 [rank1]: "},
        {"0: ", "1: "},
        {"(Worker rank=0 pid=71) ", "(Worker rank=1 pid=72) "},
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        char text[4096];
        const char *a = prefixes[i][0], *b = prefixes[i][1];
        snprintf(text, sizeof(text),
                 "%sTraceback (most recent call last):\n%sTraceback (most recent call last):\n"
                 "%s  File \"/a.py\", line 1, in f\n%s  File \"/a.py\", line 2, in g\n"
                 "%s" OOM_TEXT "\n%s" OOM_TEXT "\n",
                 a, b, a, b, b, a);
        struct oom_log *log = log_load_text(text);
        ck_assert_msg(log->count == 2, "\"%s\"", a);
        ck_assert_int_eq(log->items[0].message.rank, 1);
        ck_assert_str_eq(log_functions(log, &log->items[0].message), "g:2");
        ck_assert_int_eq(log->items[1].message.rank, 0);
        ck_assert_str_eq(log_functions(log, &log->items[1].message), "f:1");
        oom_log_destroy(log);
    }
}
END_TEST

/* The traceback of `logged`, in which PREFIX stands for what a logger writes before a line. */
static void expect_logged(const char *logged, const char *prefix, const char *functions)
{
    struct buffer text = BUFFER_INIT;
    for (const char *at = logged; *at;) {
        const char *end = strchr(at, '\n');
        buffer_printf(&text, "%s%.*s\n", prefix, (int)(end - at), at);
        at = end + 1;
    }
    ck_assert(!text.failed);
    struct oom_log *log = log_load(text.bytes, text.size);
    ck_assert_msg(strcmp(log_functions(log, &log->items[0].message), functions) == 0, "%s: %s",
                  prefix, log_functions(log, &log->items[0].message));
    oom_log_destroy(log);
    buffer_release(&text);
}

START_TEST(loggers_write_before_each_line)
{
    static const char logged[] = "Traceback (most recent call last):\n"
                                 "  File \"/a/run.py\", line 7, in f\n"
                                 "    y: Tensor = model(x)\n"
                                 "         ^^^^^^^^\n"
                                 "  File \"/a/net.py\", line 31, in g\n"
                                 "    return self.l(x)\n" OOM_TEXT "\n";
    static const char *const prefixes[] = {
        "trainer-1  | ",
        "(EngineCore_DP0 pid=123) ERROR 01-01 12:00:00 [core.py:700] ",
        "ERROR:root:",
        "2026-07-01 12:33:44,123 ERROR    [train.py:88] ",
        "(pid=4242, ip=10.0.0.3) ",
        "[pod/trainer-0/main] ",
        "  | ", /* an exception group */
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        expect_logged(logged, prefixes[i], "g:31 f:7");
    /* an error before it has nothing to do with it */
    expect_logged("  File \"/a/run.py\", line 7, in f\nKeyError: 1\n" OOM_TEXT "\n",
                  "ERROR:a:", "");
}
END_TEST

START_TEST(containers_have_errors_of_their_own)
{
    struct oom_log *log = log_load_text("a-1   | " OOM_TEXT "\n"
                                        "bc-1  | " OOM_TEXT "\n"
                                        "(W pid=7) " OOM_TEXT "\n");
    ck_assert_uint_eq(log->total, 3);
    ck_assert_str_eq(symbols_text(log->symbols, log->items[0].message.container).bytes, "a-1");
    ck_assert_str_eq(symbols_text(log->symbols, log->items[1].message.container).bytes, "bc-1");
    ck_assert_int_eq(log->items[1].message.pid, -1);
    ck_assert_int_eq(log->items[2].message.pid, 7);
    ck_assert_uint_eq(log->items[2].message.container, STRING_EMPTY);
    oom_log_destroy(log);
}
END_TEST

START_TEST(containers_are_kept_apart)
{
    struct oom_log *log = log_load_text("a-1   |   File \"/a.py\", line 1, in f\n"
                                        "bc-1  |   File \"/b.py\", line 2, in g\n"
                                        "a-1   | " OOM_TEXT "\n");
    ck_assert_str_eq(log_functions(log, &log->items[0].message), "f:1");
    oom_log_destroy(log);
}
END_TEST

/* kubectl logs --prefix, and structured logs: the lines of two containers that take turns */
START_TEST(containers_of_pods_are_kept_apart)
{
    static const char *const logs[] = {
        "[pod/w-0/main]   File \"/a.py\", line 1, in f\n"
        "[pod/w-1/main]   File \"/b.py\", line 2, in g\n"
        "[pod/w-0/main] torch." OOM_TEXT "\n",
        "{\"kubernetes\": {\"pod_name\": \"w-0/main\"}, \"log\": \"  File \\\"/a.py\\\", line 1, "
        "in f\"}\n"
        "{\"kubernetes\": {\"pod_name\": \"w-1/main\"}, \"log\": \"  File \\\"/b.py\\\", line 2, "
        "in g\"}\n"
        "{\"kubernetes\": {\"pod_name\": \"w-0/main\"}, \"log\": \"torch." OOM_TEXT "\"}\n",
    };
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct oom_log *log = log_load_text(logs[i]);
        ck_assert_uint_eq(log->count, 1);
        ck_assert_str_eq(log_functions(log, &log->items[0].message), "f:1");
        ck_assert_str_eq(symbols_text(log->symbols, log->items[0].message.container).bytes,
                         "w-0/main");
        oom_log_destroy(log);
    }
}
END_TEST

/* Records of two ranks; what stands after the message is no part of it. */
START_TEST(ranks_of_records_are_kept_apart)
{
#define RECORD(rank, message)                                                                      \
    "{\"rank\": " rank ", \"message\": \"" message "\", \"file\": \"a.py\"}\n"
    struct oom_log *log = log_load_text(RECORD("0", "  File \\\"/a.py\\\", line 1, in f") RECORD(
        "1", "  File \\\"/b.py\\\", line 2, in g") RECORD("0", OOM_TEXT) RECORD("1", OOM_TEXT));
    ck_assert_uint_eq(log->count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(log->items[i].message.rank, (int)i);
        ck_assert_str_eq(log_functions(log, &log->items[i].message), i == 0 ? "f:1" : "g:2");
    }
    oom_log_destroy(log);
    /* the rank is in the message */
    log =
        log_load_text("{\"message\": \"[rank1]:   File \\\"/a.py\\\", line 1, in f\", \"at\": 1}\n"
                      "{\"message\": \"[rank1]: " OOM_TEXT "\", \"at\": 2}\n");
    ck_assert_uint_eq(log->count, 1);
    ck_assert_int_eq(log->items[0].message.rank, 1);
    ck_assert_str_eq(log_functions(log, &log->items[0].message), "f:1");
    oom_log_destroy(log);
    /* the traceback is not in the message */
    log = log_load_text("{\"message\": \"failed\", \"exc_info\": \"Traceback:\\n  File "
                        "\\\"/a.py\\\", line 1, in f\\n" OOM_TEXT "\"}\n");
    ck_assert_uint_eq(log->count, 1);
    ck_assert_str_eq(log_functions(log, &log->items[0].message), "f:1");
    oom_log_destroy(log);
    /* no JSON */
    log = log_load_text("{\"rank\": \"1, \"message: \n{\"message\": " OOM_TEXT "\n");
    ck_assert_uint_eq(log->count, 1);
    ck_assert_int_eq(log->items[0].message.rank, -1);
    oom_log_destroy(log);
}
END_TEST

/* As JSON's strings, as strings within these, as repr() writes them, and line by line. */
START_TEST(tracebacks_are_read_from_strings)
{
    static const char *const logs[] = {
        "{\"m\": \"Traceback (most recent call last):\\n  File \\\"/a.py\\\", line 7, in f\\n"
        "    y\\n  File \\\"C:\\\\new\\\\b.py\\\", line 31, in g\\r\\n    z\\n" OOM_TEXT "\"}\n",
        "{\"m\": \"{\\\"e\\\": \\\"\\\\n  File \\\\\\\"/a.py\\\\\\\", line 7, in f\\\\n  File "
        "\\\\\\\"/b.py\\\\\\\", line 31, in g\\\\n" OOM_TEXT "\\\"}\"}\n",
        "error: 'Traceback:\\n  File \"/a.py\", line 7, in f\\n  File \"/b.py\", line 31, in "
        "g\\n" OOM_TEXT "'\n",
        "{\"log\":\"  File \\\"/a.py\\\", line 7, in f\\n\",\"stream\":\"stderr\"}\n"
        "{\"log\":\"    y: int = 1\\n\",\"stream\":\"stderr\"}\n"
        "{\"log\":\"  File \\\"/b.py\\\", line 31, in g\\n\",\"stream\":\"stderr\"}\n"
        "{\"log\":\"" OOM_TEXT "\\n\",\"stream\":\"stderr\"}\n",
    };
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct oom_log *log = log_load_text(logs[i]);
        ck_assert_uint_eq(log->count, 1);
        ck_assert_str_eq(log_functions(log, &log->items[0].message), "g:31 f:7");
        ck_assert_str_eq(symbols_text(log->symbols, log->items[0].message.exception).bytes,
                         "torch.OutOfMemoryError");
        oom_log_destroy(log);
    }
}
END_TEST

/* Two processes that write at the same time may share a line. */
START_TEST(ranks_of_one_line_are_kept_apart)
{
    struct oom_log *log =
        log_load_text("[rank0]: torch." OOM_TEXT " [rank1]: torch." OOM_TEXT "\n");
    ck_assert_uint_eq(log->count, 2);
    ck_assert_int_eq(log->items[0].message.rank, 0);
    ck_assert_int_eq(log->items[1].message.rank, 1);
    oom_log_destroy(log);
}
END_TEST

/* torchrun's summary. It kills the other processes if one fails. */
START_TEST(a_killed_process_is_an_error_by_itself_only)
{
#define SUMMARY                                                                                    \
    "train.py FAILED\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4711)\n"             \
    "  traceback : Signal 9 (SIGKILL) received by PID 4711\n"
    struct oom_log *log = log_load_text(SUMMARY);
    ck_assert_uint_eq(log->count, 1);
    ck_assert_int_eq(log->items[0].message.source, OOM_SOURCE_WORKER);
    ck_assert_uint_eq(log->items[0].message.processes[0].pid, 4711);
    oom_log_destroy(log);
    log = log_load_text("[rank0]: " OOM_TEXT "\n" SUMMARY);
    ck_assert_uint_eq(log->count, 1);
    ck_assert_int_eq(log->items[0].message.source, OOM_SOURCE_ALLOCATOR);
    oom_log_destroy(log);
}
END_TEST

START_TEST(repeats_are_one_error)
{
    struct oom_log *log =
        log_load_text("ERROR " OOM_TEXT "\n  File \"/a.py\", line 1, in f\n" OOM_TEXT
                      "\n[rank1]: " OOM_TEXT "\n");
    ck_assert_uint_eq(log->count, 2);
    ck_assert_uint_eq(log->items[0].count, 2);
    ck_assert_uint_eq(log->items[0].message.line, 1);
    ck_assert_str_eq(log_functions(log, &log->items[0].message), "f:1");
    ck_assert_uint_eq(log->items[1].count, 1);
    oom_log_destroy(log);
}
END_TEST

TCase *log_processes_tests(void)
{
    TCase *tests = tcase_create("processes");
    tcase_add_test(tests, tracebacks_are_read);
    tcase_add_test(tests, tracebacks_have_prefixes);
    tcase_add_test(tests, a_traceback_belongs_to_one_error);
    tcase_add_test(tests, an_error_told_twice_counts_once);
    tcase_add_test(tests, ranks_are_kept_apart);
    tcase_add_test(tests, ranks_of_one_line_are_kept_apart);
    tcase_add_test(tests, loggers_write_before_each_line);
    tcase_add_test(tests, containers_are_kept_apart);
    tcase_add_test(tests, containers_have_errors_of_their_own);
    tcase_add_test(tests, containers_of_pods_are_kept_apart);
    tcase_add_test(tests, ranks_of_records_are_kept_apart);
    tcase_add_test(tests, tracebacks_are_read_from_strings);
    tcase_add_test(tests, a_killed_process_is_an_error_by_itself_only);
    tcase_add_test(tests, repeats_are_one_error);
    return tests;
}
