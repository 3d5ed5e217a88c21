/* The operator of an allocation as PyTorch's dispatcher shows it to modes such as that of selective
 * checkpoints: below autograd, and above what the operator calls itself. */
#ifndef MEMSNAP_ANALYSIS_CODE_DISPATCHED_H
#define MEMSNAP_ANALYSIS_CODE_DISPATCHED_H

#include "analysis/code/site.h"

/* Finds the operator: "aten::addmm" for what linear() allocates; STRING_EMPTY if no C++ frame of
 * the stack tells. Autograd passes an operator on by at::_ops::NAME::redispatch, so the operator is
 * the one that the outermost such frame names, among the C++ frames inside of all Python frames. */
bool dispatched_operator(struct site_table *table, stack_id stack, string_id *name,
                         struct error *err);

/* The time of an operator for each byte of its results, as a multiple of that of an operator that
 * only reads and writes memory: a rough figure for a class of operators. Attention, convolutions
 * and matrix products have figures above 1, all others 1. */
unsigned operator_weight(struct text name);

#endif
