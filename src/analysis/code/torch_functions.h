/* The operators that functions of torch call, where a stack has no C++ frames to name them.
 *
 * torch.nn.functional.softmax() and Linear.forward() are Python; torch.softmax(), Tensor.softmax()
 * and `a @ b` have no frame, so the innermost frame is then that of the line that calls them. */
#ifndef MEMSNAP_ANALYSIS_CODE_TORCH_FUNCTIONS_H
#define MEMSNAP_ANALYSIS_CODE_TORCH_FUNCTIONS_H

#include "analysis/code/paths.h"

enum torch_function {
    TORCH_FUNCTION_NONE,
    TORCH_LINEAR,
    TORCH_CONVOLUTION,
    TORCH_UPSAMPLE,
    TORCH_SOFTMAX,
    TORCH_LOG_SOFTMAX, /* also cross_entropy(), which makes little else */
    TORCH_NLL_LOSS,
    TORCH_FOREACH, /* an optimizer's step by torch._foreach_add() and the like: its temporaries. Not
                      that of SGD, which also makes its states there. */
};

/* `path` is that inside of the package torch. */
enum torch_function torch_function_of(struct text path, struct text name);
/* "aten::addmm"; "" for none. */
struct text torch_function_op(enum torch_function function);

#endif
