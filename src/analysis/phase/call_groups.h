/* Calls of models that belong to one iteration of a loop in a program that does not train. */
#ifndef MEMSNAP_ANALYSIS_PHASE_CALL_GROUPS_H
#define MEMSNAP_ANALYSIS_PHASE_CALL_GROUPS_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"

/* Sets `joins_next` of the forward runs after which the same iteration calls another model: an
 * encoder and a decoder, or the layers of a model that the program itself calls one by one.
 *
 * An iteration goes on while the lines of its calls come in the order of the program. Calls between
 * which the program allocates something belong together only if they occur about equally often, as
 * the first and the later tokens of a text do not. Nothing is joined unless the program goes back
 * to an earlier line at least three times. Needs Python frames. */
bool call_groups_find(struct phases *phases, const struct timeline *timeline,
                      struct site_table *sites, struct error *err);

#endif
