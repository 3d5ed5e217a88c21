/* Decodes torch.cuda.memory_stats(), as JSON or pickled, and the tables of memory_summary() in a
 * log. */
#ifndef MEMSNAP_DECODE_STATS_STATS_H
#define MEMSNAP_DECODE_STATS_STATS_H

#include "base/symbols.h"
#include "decode/core/source.h"
#include "decode/log/lines.h"
#include "decode/stats/rows.h"

/* Hands out one row. The dict may be flat ("active.all.peak") or nested
 * (memory_stats_as_nested_dict()). */
bool decode_stats_json(struct source *source, const struct stats_sink *sink, struct error *err);
/* The same. `*protocol` as in struct decoded. */
bool decode_stats_pickle(struct source *source, struct symbols *symbols,
                         const struct stats_sink *sink, int *protocol, struct error *err);
/* Reads the tables of a log, of which stats_tables_take() gets every line. Hands out a row for each
 * table, in order. STATUS_BAD_INPUT, with the number of the line, for a cell that is not a number.
 * NULL if out of memory. */
struct stats_tables *stats_tables_create(const struct stats_sink *sink, struct error *err);
bool stats_tables_take(struct stats_tables *tables, const struct log_line *line, struct error *err);
/* Hands out a table that the end of the log cut off. */
bool stats_tables_end(struct stats_tables *tables, struct error *err);
void stats_tables_destroy(struct stats_tables *tables); /* NULL is allowed */

#endif
