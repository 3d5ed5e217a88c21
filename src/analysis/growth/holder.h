/* The line of the program that calls the model, or the installed package, in which something is
 * made. Files of this folder only. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_HOLDER_H
#define MEMSNAP_ANALYSIS_GROWTH_HOLDER_H

#include "analysis/live/source.h"

/* Sets `*caller` to the label of that line, which the symbols own; NULL if the source's own line is
 * the program's and outside of every module, or no such line is known. */
bool growth_label_caller(const struct live_set *set, const struct live_source *source,
                         const char **caller, struct error *err);

#endif
