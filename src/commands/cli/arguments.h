/* Parsers for the arguments of options: numbers, sizes, moments. Invalid text is STATUS_USAGE, with
 * a message that says what was expected. */
#ifndef MEMSNAP_COMMANDS_CLI_ARGUMENTS_H
#define MEMSNAP_COMMANDS_CLI_ARGUMENTS_H

#include <stddef.h>

#include "analysis/live/when.h"
#include "base/units.h"
#include "model/window.h"
#include "render/analyze/analyze.h"
#include "solve/problem/cuts.h"

/* A whole number up to `most`; `option` is the name without the dashes. */
bool argument_number(const char *option, const char *text, uint64_t most, uint64_t *number,
                     struct error *err);
bool argument_count(const char *option, const char *text, size_t most, size_t *count,
                    struct error *err);
/* The argument of --device: the number of a device. */
bool argument_device(const char *text, int64_t *device, struct error *err);
/* The argument of --units. */
bool argument_unit(const char *text, enum unit *unit, struct error *err);
/* The argument of --max-memory: bytes, more than 0. */
bool argument_memory(const char *text, size_t *bytes, struct error *err);

/* The argument of --stacks, which may be NULL. */
bool argument_stacks(const char *text, enum stack_detail *stacks, struct error *err);

/* The argument of --granularity: "leaf", a depth, or a pattern, to which the result points. */
bool argument_granularity(const char *text, struct cuts *cuts, struct error *err);

/* The argument of --at: peak, end, the number of an event, a time as in --range, or the name of a
 * phase or an annotation, to which the result points. */
bool argument_when(const char *text, struct when *when, struct error *err);

#endif
