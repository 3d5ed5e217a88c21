/* Short words for the events of a file's capture, and for what its report says of growth. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_GROWTH_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_ONE_GROWTH_H

#include <string.h>

#include "analysis/growth/growth.h"
#include "unit/analysis/one_report.h"

static inline void born(uint64_t addr, uint64_t size, const char *frames)
{
    capture_event(&capture, "alloc", addr, size, frames);
}

static inline void freed(uint64_t addr, uint64_t size, const char *frames)
{
    capture_free(&capture, addr, size, frames);
}

/* Ends the capture and reports it. */
static inline const struct growth *find(void)
{
    capture_load(&capture);
    report = capture_report(&capture, 0);
    return &report->growth;
}

/* Fails if there is no row with the label. */
static inline const struct growth_row *row_of(const char *label)
{
    for (size_t i = 0; i < report->growth.row_count; i++)
        if (strcmp(report->growth.rows[i].label.full, label) == 0)
            return &report->growth.rows[i];
    ck_abort_msg("no row: %s", label);
}

#endif
