#include "analysis/code/torch_functions.h"

#include <string.h>

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *file, *name;
    enum torch_function function;
} functions[] = {
    {"nn/modules/linear.py", "forward", TORCH_LINEAR},
    {"nn/functional.py", "linear", TORCH_LINEAR}, /* before torch 1.10 */
    {"nn/modules/conv.py", "_conv_forward", TORCH_CONVOLUTION},
    {"nn/modules/conv.py", "forward", TORCH_CONVOLUTION},
    {"nn/functional.py", "interpolate", TORCH_UPSAMPLE},
    {"nn/functional.py", "softmax", TORCH_SOFTMAX},
    {"nn/functional.py", "log_softmax", TORCH_LOG_SOFTMAX},
    {"nn/functional.py", "cross_entropy", TORCH_LOG_SOFTMAX},
    {"nn/functional.py", "nll_loss", TORCH_NLL_LOSS},
};

static bool is_path(struct text path, const char *of)
{
    size_t size = strlen(of);
    bool is = path.size == size;
    for (size_t i = 0; is && i < size; i++)
        is = (path.bytes[i] == '\\' ? '/' : path.bytes[i]) == of[i];
    return is;
}

enum torch_function torch_function_of(struct text path, struct text name)
{
    for (size_t i = 0; i < COUNT(functions); i++)
        if (text_equals(name, functions[i].name) && is_path(path, functions[i].file))
            return functions[i].function;
    bool is_optimizer = text_starts(path, "optim/") || text_starts(path, "optim\\");
    if (is_optimizer && text_starts(name, "_multi_tensor_") &&
        !text_equals(name, "_multi_tensor_sgd"))
        return TORCH_FOREACH;
    return TORCH_FUNCTION_NONE;
}

struct text torch_function_op(enum torch_function function)
{
    static const char *const ops[] = {
        [TORCH_FUNCTION_NONE] = "",
        [TORCH_LINEAR] = "aten::addmm",
        [TORCH_CONVOLUTION] = "aten::convolution",
        [TORCH_UPSAMPLE] = "aten::upsample_",
        [TORCH_SOFTMAX] = "aten::_softmax",
        [TORCH_LOG_SOFTMAX] = "aten::_log_softmax",
        [TORCH_NLL_LOSS] = "aten::nll_loss_forward",
        [TORCH_FOREACH] = "aten::_foreach_",
    };
    return (struct text){ops[function], strlen(ops[function])};
}
