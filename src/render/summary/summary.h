/* Writes summaries in the form of their file (model/summary.h). */
#ifndef MEMSNAP_RENDER_SUMMARY_SUMMARY_H
#define MEMSNAP_RENDER_SUMMARY_SUMMARY_H

#include <stdio.h>

#include "base/buffer.h"
#include "model/summary.h"

/* Adds the map of a summary, which a bin holds. False if memory ran out. */
bool summary_pack(struct buffer *bin, const struct summary *summary, struct error *err);

/* The beginning of a file, and each bin. The owner of the stream checks for write errors. */
void summaries_begin(FILE *out);
void summaries_add(FILE *out, struct text bin);

#endif
