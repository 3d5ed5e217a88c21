/* Where the optimizer step of a row of freed gradients is. For gradient_rows.c only.
 *
 * Most programs free the gradients right after the step, or when the next one begins: then the step
 * ends at the row, and frees nothing that is older than itself. Some free them later, as before the
 * next backward pass: then the step is the last one that freed scratch space in a row, or what
 * follows the last gradient. If further backward passes add to the gradients, the step follows the
 * last of these. */
#ifndef MEMSNAP_ANALYSIS_PHASE_ROW_STEPS_H
#define MEMSNAP_ANALYSIS_PHASE_ROW_STEPS_H

#include "analysis/phase/gradient_rows.h"

/* The item from which on only a step may run, up to the item `first`: it makes blocks of the sizes
 * of weights, or scalars, and frees none that is older than itself. The backward pass before it
 * frees what the forward pass saved. `born` lifetimes exist at `first`. */
uint32_t row_steps_quiet(struct gradient_rows *rows, uint32_t first, size_t born);
/* The item from which on the blocks of a row of `members` blocks are scratch space of the step;
 * EVENT_NEVER if it has none. `quiet` is of row_steps_quiet(). */
uint32_t row_steps_cut(const struct gradient_rows *rows, const struct gradient_row *row,
                       uint32_t quiet, size_t members);
/* Notes a row that has scratch space only. */
void row_steps_note_scratch(struct gradient_rows *rows, const struct gradient_row *row,
                            uint32_t quiet);
/* Sets where the step of a row begins and ends. False if the row is no gradients. */
bool row_steps_place(struct gradient_rows *rows, const struct pattern *pattern,
                     struct gradient_row *row, uint32_t quiet);

#endif
