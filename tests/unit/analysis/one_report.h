/* The capture of a file of tests and its report, and the fixture that makes them anew for each
 * test. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_REPORT_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_REPORT_H

#include "unit/analysis/capture.h"

static struct capture capture;
static struct device_report *report; /* NULL until make_report() */

static void create(void)
{
    report = NULL;
    capture_init(&capture);
}

static void destroy(void)
{
    device_report_destroy(report);
    capture_release(&capture);
}

/* Ends the capture, reports it with the `top` largest of each list (0: all), and checks the sums.
 */
static inline void make_report(size_t top)
{
    capture_load(&capture);
    report = capture_report(&capture, top);
    report_check_sums(report);
}

#endif
