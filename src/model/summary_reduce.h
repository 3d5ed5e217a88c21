/* Summaries without what the comparison of ranks does not show: stacks, findings and steps.
 * Thousands of ranks have the same call sites, whose names they share. */
#ifndef MEMSNAP_MODEL_SUMMARY_REDUCE_H
#define MEMSNAP_MODEL_SUMMARY_REDUCE_H

#include "model/summary.h"

/* The texts of reduced summaries, which must outlive them. Thread-safe. */
struct summary_texts;

struct summary_texts *summary_texts_create(size_t max_memory, struct error *err);
void summary_texts_destroy(struct summary_texts *texts); /* NULL is allowed */

/* Replaces the summary by a reduced one. On failure it stays as it was. */
bool summary_reduce(struct summary **summary, struct summary_texts *texts, struct error *err);

#endif
