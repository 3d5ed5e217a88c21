/* The capture of a file of tests, and the fixture that makes it anew for each test. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_CAPTURE_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_CAPTURE_H

#include "unit/analysis/capture.h"

static struct capture capture;

static void create(void)
{
    capture_init(&capture);
}

static void destroy(void)
{
    capture_release(&capture);
}

#endif
