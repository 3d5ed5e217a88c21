/* The words of the tables that FSDPMemTracker and MemTracker print. */
#ifndef MEMSNAP_DECODE_RUN_WORDS_H
#define MEMSNAP_DECODE_RUN_WORDS_H

#include "base/text.h"
#include "decode/run/rows.h"

/* Both forms of a name are known: "Sharded Param" and "_FSDPRefType.SHARDED_PARAM", "Peak Forward"
 * and "_FSDPModState.PEAK_FW". */
bool run_kind_parse(struct text text, enum run_kind *kind);
bool run_state_parse(struct text text, enum run_state *state);

/* "12800 B", "64.5 MiB". `*unit` is in bytes, `*bytes` is rounded to the nearest byte. */
bool run_size_parse(struct text text, int64_t *bytes, int64_t *unit);

/* Digits with at most one point. `*scale` is 10 to the number of digits after it. */
bool run_decimal_parse(struct text text, uint64_t *digits, uint64_t *scale);

#endif
