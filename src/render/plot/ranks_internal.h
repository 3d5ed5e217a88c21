/* Shared by the files of the picture of ranks. */
#ifndef MEMSNAP_RENDER_PLOT_RANKS_INTERNAL_H
#define MEMSNAP_RENDER_PLOT_RANKS_INTERNAL_H

#include "render/plot/kind.h"
#include "render/plot/ranks_lines.h"
#include "render/ranks/ranks.h"

/* A picture made of characters. */
bool plot_ranks_in_text(const struct plot_job *job, const struct ranks_report *report,
                        struct error *err);
/* plot_subtitle and plot_note, as raw bytes. */
void plot_ranks_words(struct buffer *subtitle, struct buffer *note,
                      const struct ranks_report *report, const struct rank_lines *lines);

#endif
