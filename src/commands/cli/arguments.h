/* What several commands' options take: numbers, sizes, moments. Each is STATUS_USAGE, in words that
 * show what would do, where the text is none. */
#ifndef MEMSNAP_COMMANDS_CLI_ARGUMENTS_H
#define MEMSNAP_COMMANDS_CLI_ARGUMENTS_H

#include <stddef.h>

#include "analysis/report/report.h"
#include "base/units.h"
#include "model/window.h"
#include "solve/problem/cuts.h"

/* A whole number up to `most`; `option` is the name without the dashes. */
bool argument_number(const char *option, const char *text, uint64_t most, uint64_t *number,
                     struct error *err);
bool argument_count(const char *option, const char *text, size_t most, size_t *count,
                    struct error *err);
/* A --device: a device's number. */
bool argument_device(const char *text, int64_t *device, struct error *err);
/* A --units. */
bool argument_unit(const char *text, enum unit *unit, struct error *err);
/* A --max-memory: bytes, more than 0. */
bool argument_memory(const char *text, size_t *bytes, struct error *err);

/* A --granularity: "leaf", a depth, or a pattern, which it refers to. */
bool argument_granularity(const char *text, struct cuts *cuts, struct error *err);

/* A moment of a trace. */
struct when {
    enum { WHEN_PEAK, WHEN_END, WHEN_POINT } kind;
    struct point point; /* of WHEN_POINT */
};

/* An --at: peak, end, an event's number, or a time as in --range. */
bool argument_when(const char *text, struct when *when, struct error *err);
/* The same, into the options of a report. */
bool argument_at(const char *text, struct report_options *report, struct error *err);

#endif
