/* The test cases of the runner. */
#ifndef MEMSNAP_UNIT_DECODE_PROFILER_PROFILER_H
#define MEMSNAP_UNIT_DECODE_PROFILER_PROFILER_H

#include <check.h>

TCase *profiler_ranges_tests(void);

#endif
