/* The sentences about an out-of-memory event, once its verdict is known. */
#ifndef MEMSNAP_ANALYSIS_OOM_WORDS_H
#define MEMSNAP_ANALYSIS_OOM_WORDS_H

#include "analysis/oom/oom.h"

/* Fills `sentence` and `next`. `doubt`: why the layout is not known, NULL where it is. */
void oom_write_sentences(struct oom_row *row, const struct allocator_rules *rules,
                         const char *doubt, const struct oom_question *question);

/* True if the advice about a row with fragmentation continues with the blocks that keep segments
 * from being released (row->pinned); false if it continues with what holds most memory. */
bool oom_names_pinned(const struct oom_row *row);

/* True if nearly all reserved memory is in use, so that the next request would fail even if this
 * one could have the holes. */
bool oom_gains_little(const struct oom_row *row);

#endif
