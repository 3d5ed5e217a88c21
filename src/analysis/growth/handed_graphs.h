/* Autograd graphs that one pass hands on to the next, such as with the state of a recurrent network
 * that is not detached.
 *
 * Each forward pass goes on from a result of the one before. Its backward pass then goes through
 * the graphs of all passes before it again, which backward(retain_graph=True) has kept for it. It
 * shows by the backward passes: each computes as much more than the one before as the first
 * computes in all, for three passes or more. Tensors of such a pass count from the end of its own
 * backward pass on if they are still there when that of the next pass begins, and if a graph frees
 * them, as C++ frames show, or nothing does. */
#ifndef MEMSNAP_ANALYSIS_GROWTH_HANDED_GRAPHS_H
#define MEMSNAP_ANALYSIS_GROWTH_HANDED_GRAPHS_H

#include "analysis/category/category.h"

#define HANDED 2 /* differs from true, the flag of graphs that are retained for another reason */

/* Sets flags, by lifetime, to HANDED for each tensor that counts, and `from`, by lifetime, to the
 * first item at which it could be free. Leaves the others alone. `is_dropped` leaves some out;
 * NULL: none. */
bool handed_graphs_mark(uint8_t *flags, uint32_t *from, const struct timeline *timeline,
                        struct site_table *sites, const struct categories *categories,
                        const struct phases *phases, const uint8_t *is_dropped, struct error *err);

#endif
