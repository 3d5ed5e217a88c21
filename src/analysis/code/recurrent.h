/* Recognises recurrent layers by the stacks of what they allocate. */
#ifndef MEMSNAP_ANALYSIS_CODE_RECURRENT_H
#define MEMSNAP_ANALYSIS_CODE_RECURRENT_H

#include "base/symbols.h"

/* True if a frame is in torch.nn.LSTM, GRU or RNN, or in the operator of cuDNN or MIOpen that
 * computes them. */
bool code_is_recurrent(const struct symbols *symbols, stack_id id);

/* What lowers the memory that a recurrent layer keeps for its backward pass. */
#define RECURRENT_ADVICE                                                                           \
    "For a recurrent layer, shorter sequences lower it, too: run the model on windows of the "     \
    "sequence one after another, with a backward pass after each, and hand on the state detached " \
    "(state.detach())."

#endif
