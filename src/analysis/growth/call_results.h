/* Which calls of Python functions may still hold a tensor, judged by the stacks of later events.
 *
 * What a function makes, or receives from the functions that it calls, counts as held until it
 * returns. Then its caller holds the last results: what the line made that allocated last, or else
 * what it received from a function, but not both: the one is an argument of the other. Results of a
 * line that calls functions three times or more, and what precedes them, count as held for good, as
 * in a list of the results of all layers. Other results do not leave the function that made them.
 * torch.nn.Sequential holds only the result of the last module that it called.
 *
 * A function has returned if its caller goes on to another line, or calls another function. If an
 * earlier line of a function follows a later one, it runs a loop, or the same line of its caller
 * calls it again. In both cases the caller holds the results of the last line, and other results
 * count as held until their line has new ones. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_CALL_RESULTS_H
#define MEMSNAP_ANALYSIS_GROWTH_CALL_RESULTS_H

#include "analysis/code/site.h"

/* Receives a result that no call holds from an item on. */
typedef void call_results_end(void *context, uint32_t lifetime, size_t item);

struct call_results;

/* There is room for `most` results. NULL on failure. */
struct call_results *call_results_create(struct site_table *sites, size_t most,
                                         call_results_end *end, void *context,
                                         struct budget *budget, struct error *err);
/* Follows the calls and returns before an item that has a stack; items come in their order. Stacks
 * without Python, and those of another thread, change nothing. */
void call_results_follow(struct call_results *results, const struct stack *stack, size_t item,
                         bool allocates);
/* Adds a result that the item which was followed last has allocated. */
void call_results_add(struct call_results *results, uint32_t lifetime);
void call_results_destroy(struct call_results *results);

#endif
