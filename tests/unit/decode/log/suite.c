#include <stdio.h>
#include <string.h>

#include "unit/decode/log/log.h"

struct oom_log *log_load(const char *bytes, size_t size)
{
    struct input input;
    struct error err;
    ck_assert(input_from_memory(&input, bytes, size, 64 << 20, &err));
    struct oom_log *log = oom_log_load_input(&input, &err);
    ck_assert_msg(log != NULL, "%s", err.text);
    return log;
}

struct oom_log *log_load_text(const char *text)
{
    return log_load(text, strlen(text));
}

const char *log_functions(const struct oom_log *log, const struct oom_message *message)
{
    static char functions[1024];
    struct stack stack = symbols_stack_at(log->symbols, message->stack);
    functions[0] = '\0';
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(log->symbols, stack.frames[i]);
        size_t used = strlen(functions);
        snprintf(functions + used, sizeof(functions) - used, "%s%s:%u", i ? " " : "",
                 symbols_text(log->symbols, frame.name).bytes, frame.line);
    }
    return functions;
}

Suite *unit_suite(void)
{
    Suite *suite = suite_create("log");
    suite_add_tcase(suite, log_texts_tests());
    suite_add_tcase(suite, log_lines_tests());
    suite_add_tcase(suite, log_processes_tests());
    return suite;
}
