/* Decodes the rank_N_memory_stats that MemProfiler of Finetuning-Scheduler writes, as a pickle or
 * as YAML. */
#ifndef MEMSNAP_DECODE_RUN_STATS_H
#define MEMSNAP_DECODE_RUN_STATS_H

#include "decode/core/sniff.h"
#include "decode/run/rows.h"

/* Sends all points to the sink, in file order. Sets the encoding: ENCODING_PICKLE or ENCODING_YAML.
 * A statistic that is None is left out; one that is not a number is STATUS_BAD_INPUT. Errors name
 * the byte offset in a pickle, the line in YAML. */
bool decode_run_stats(struct source *source, struct symbols *symbols,
                      const struct run_stats_sink *sink, enum encoding *encoding,
                      struct error *err);

#endif
