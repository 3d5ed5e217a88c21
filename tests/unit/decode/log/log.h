/* Shared by the tests of logs. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_LOG_LOG_H
#define MEMSNAP_TESTS_UNIT_DECODE_LOG_LOG_H

#include "model/oom_log.h"
#include "unit/unit.h"

TCase *log_texts_tests(void);
TCase *log_lines_tests(void);
TCase *log_processes_tests(void);

/* A text of PyTorch 2.1 and later. */
#define OOM_TEXT                                                                                   \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "  \
    "capacity of 1.00 GiB of which 1.00 MiB is free. Of the allocated memory 900.00 MiB is "       \
    "allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated."

struct oom_log *log_load(const char *bytes, size_t size); /* must succeed */
struct oom_log *log_load_text(const char *text);
/* "inner outer": the names of the functions of a stack, innermost first. */
const char *log_functions(const struct oom_log *log, const struct oom_message *message);

#endif
