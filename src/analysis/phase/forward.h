/* The forward pass of code outside any module, such as a model of plain functions, told by what it
 * allocates. For analysis/phase only. */
#ifndef MEMSNAP_ANALYSIS_PHASE_FORWARD_H
#define MEMSNAP_ANALYSIS_PHASE_FORWARD_H

#include "analysis/code/site.h"
#include "analysis/phase/runs.h"

/* A search in the items [first, end) before the backward pass that begins with run `pass` > 0. The
 * caller sets these, for one search after the other; the functions keep what they find out in the
 * rest, which begins as 0. */
struct forward_search {
    const struct phases *phases;
    const struct timeline *timeline;
    struct site_table *sites;
    uint32_t first, end;
    size_t pass;
    bool is_initial; /* no backward pass came before: the items may make the weights, too */
    stack_id begun;  /* of the first item of the forward pass before; STACK_NONE: not known */

    uint32_t batch; /* without operators: the item that makes the batch; `end`: none */
    size_t kept_of; /* the pass that `kept` belongs to; 0: none yet */
    uint32_t kept;  /* the end of the pass after it */
};

/* Sets the first item that allocates what the pass frees, or `end`. Batches copied to the device or
 * drawn there do not count. */
bool forward_saved(const struct forward_search *search, uint32_t *item, struct error *err);

/* Sets the first item that is surely forward, or `end`: it allocates what the pass frees, or the
 * result of a matrix product or the like that is alive when the pass begins. The second is needed
 * where the program's own variables hold what autograd saved. Without either, it is the first item
 * that allocates anything alive then, or the first matrix product after that. Where the operators
 * are not known, the first line of code that allocates such memory is taken to make the batch, and
 * any other to compute. */
bool forward_certain(struct forward_search *search, uint32_t *item, struct error *err);

/* Moves `item`, as set by forward_certain(), back to the first matrix product or the like at or
 * after the item `from`: temporary results of the first lines of a model are not alive when the
 * backward pass begins. */
bool forward_extend(struct forward_search *search, uint32_t from, uint32_t *item,
                    struct error *err);

/* True if the operator multiplies by weights or normalizes. Code that prepares a batch has little
 * use for it. */
bool op_computes(const struct symbols *symbols, string_id op);

/* True if the operator copies a batch to the device or draws one there. */
bool op_makes_input(const struct symbols *symbols, string_id op);
/* True if that may be so: also for operators that only make storage, and if the operator is not
 * known. */
bool op_may_make_input(const struct symbols *symbols, string_id op);

#endif
