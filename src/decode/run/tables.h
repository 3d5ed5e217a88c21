/* Decodes the tables that FSDPMemTracker and MemTracker print: the fsdp_mem_rank_*.log of
 * MemProfiler, or the output alone. */
#ifndef MEMSNAP_DECODE_RUN_TABLES_H
#define MEMSNAP_DECODE_RUN_TABLES_H

#include "decode/core/source.h"
#include "decode/run/rows.h"

/* Reads tables and lists of lines, in bytes or in another unit. STATUS_BAD_INPUT names the line of
 * a cell that is no size, of a size in another unit than the others of its table, of an unknown
 * column or state, and of a table that is cut off. */
bool decode_run_tables(struct source *source, struct symbols *symbols,
                       const struct run_tables_sink *sink, struct error *err);

#endif
