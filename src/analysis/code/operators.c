#include "analysis/code/operators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

#define NAME_PREFIX 512 /* bytes of a function's name that are examined */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Operators that only allocate storage: the operator that called them says more. */
static const char *const factories[] = {
    "empty",     "empty_strided",     "empty_like", "empty_permuted",
    "new_empty", "new_empty_strided", "resize_",    "_resize_output_",
};

/* Operators that allocate storage and fill it with one value. */
static const char *const fills[] = {
    "full", "full_like", "new_full", "new_ones",   "new_zeros",
    "ones", "ones_like", "zeros",    "zeros_like",
};

/* Overload names without a capital letter in them. at::_ops joins operator and overload by "_"
 * (sum + dim_IntList -> sum_dim_IntList), so overloads are recognized by their form. */
static const char *const overloads[] = {
    "_out",     "_dim",          "_start",     "_start_out",     "_start_step", "_memory_format",
    "_dtype",   "_dtype_layout", "_dtype_out", "_device",        "_other",      "_self",
    "_int",     "_int_out",      "_values",    "_values_stable", "_stable",     "_correction",
    "_names",   "_generator",    "_vec",       "_src",           "_value",      "_from",
    "_float",   "_grad_input",   "_dim_max",   "_dim_min",       "_self_int",   "_decomposed",
    "_padding", "_ratio",        "_low",
};

/* Operators whose own names end like an overload. */
static const char *const whole_names[] = {"sparse_dim", "dense_dim", "affine_grid_generator"};

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Removes an overload without capitals from the end; false if there is none. */
static bool cut_ending(char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < COUNT(overloads); i++) {
        size_t length = strlen(overloads[i]);
        if (size > length && strcmp(name + size - length, overloads[i]) == 0) {
            name[size - length] = '\0';
            return true;
        }
    }
    return false;
}

/* Removes the overload from an at::_ops name, in place: "mul__Scalar" -> "mul_", "sum_dim_IntList"
 * -> "sum". */
static void cut_overload(char *name)
{
    if (is_one_of(name, whole_names, COUNT(whole_names)))
        return;
    bool is_dunder = name[0] == '_' && name[1] == '_'; /* __and__ */
    for (size_t i = 1; name[i]; i++) {
        if (name[i] != '_')
            continue;
        /* an in-place operator ends in "_", so "__" separates it from its overload */
        if (!is_dunder && name[i + 1] == '_' && name[i + 2]) {
            name[i + 1] = '\0';
            return;
        }
        if (is_upper(name[i + 1])) {
            name[i] = '\0';
            break;
        }
    }
    while (cut_ending(name))
        continue;
}

static bool is_identifier(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        if (!(c >= 'a' && c <= 'z') && !is_upper(c) && !ascii_is_digit(c) && c != '_')
            return false;
    }
    return size > 0;
}

/* "aten::NAME", as torch.profiler names operators: without overloads. */
static enum native_role classify_profiled(struct text function, char name[NATIVE_NAME_SIZE])
{
    const char *bare = function.bytes + strlen("aten::");
    size_t size = function.size - strlen("aten::");
    if (!is_identifier(bare, size) || function.size >= NATIVE_NAME_SIZE)
        return NATIVE_PLAIN;
    memcpy(name, function.bytes, function.size);
    name[function.size] = '\0';
    return is_one_of(name + strlen("aten::"), factories, COUNT(factories)) ? NATIVE_FACTORY
                                                                           : NATIVE_OPERATOR;
}

/* "AddmmBackward0", "MyFunctionBackward": a node as torch.profiler names it. */
static bool is_profiled_node(struct text function)
{
    size_t size = function.size;
    while (size > 0 && ascii_is_digit(function.bytes[size - 1]))
        size--;
    return text_ends((struct text){function.bytes, size}, "Backward") &&
           is_identifier(function.bytes, function.size) && function.size < NATIVE_NAME_SIZE;
}

static enum native_role copy_node(struct text node, char name[NATIVE_NAME_SIZE])
{
    memcpy(name, node.bytes, node.size);
    name[node.size] = '\0';
    return NATIVE_NODE;
}

/* at::_ops::NAME::call( and ::redispatch( */
static enum native_role classify_operator(struct text function, char name[NATIVE_NAME_SIZE])
{
    size_t start = strlen("at::_ops::");
    struct text rest = {function.bytes + start, function.size - start};
    const char *end = text_find(rest, "::");
    if (!end)
        return NATIVE_PLAIN;
    size_t size = (size_t)(end - rest.bytes);
    struct text method = {end + 2, rest.size - size - 2};
    char bare[NATIVE_NAME_SIZE - sizeof("aten::")];
    if (!is_identifier(rest.bytes, size) || size >= sizeof(bare) ||
        !(text_starts(method, "call") || text_starts(method, "redispatch")))
        return NATIVE_PLAIN;

    memcpy(bare, rest.bytes, size);
    bare[size] = '\0';
    bool to_device = strcmp(bare, "to_dtype_layout") == 0 || strcmp(bare, "to_device") == 0;
    cut_overload(bare);
    snprintf(name, NATIVE_NAME_SIZE, "aten::%s", bare);
    if (to_device)
        return NATIVE_TO_DEVICE;
    return is_one_of(bare, factories, COUNT(factories)) ? NATIVE_FACTORY : NATIVE_OPERATOR;
}

/* torch::autograd::generated::MulBackward0::apply( -> MulBackward0; CppNode<X>::apply( -> X */
static enum native_role classify_node(struct text function, char name[NATIVE_NAME_SIZE])
{
    const char *end = text_find(function, "::apply(");
    const char *arguments = memchr(function.bytes, '(', function.size);
    if (!end || (arguments && arguments < end))
        return NATIVE_PLAIN;
    const char *stop = end > function.bytes && end[-1] == '>' ? end - 1 : end;
    const char *start = stop;
    while (start > function.bytes && start[-1] != ':' && start[-1] != '<')
        start--;
    size_t size = (size_t)(stop - start);
    if (size == 0 || size >= NATIVE_NAME_SIZE || memchr(start, '\0', size))
        return NATIVE_PLAIN;
    memcpy(name, start, size);
    name[size] = '\0';
    return NATIVE_NODE;
}

/* c10d::ProcessGroupNCCL::allgather( -> c10d::allgather */
static void name_collective(struct text function, char name[NATIVE_NAME_SIZE])
{
    const char *group = "c10d::ProcessGroupNCCL::";
    if (!text_starts(function, group))
        return;
    const char *start = function.bytes + strlen(group);
    size_t size = 0, left = function.size - strlen(group);
    while (size < left && ((start[size] >= 'a' && start[size] <= 'z') || start[size] == '_'))
        size++;
    if (size > 0 && size < 64)
        snprintf(name, NATIVE_NAME_SIZE, "c10d::%.*s", (int)size, start);
}

static bool is_workspace(struct text function)
{
    return text_find(function, "Workspace(") ||
           text_starts(function, "at::cuda::getCurrentCUDABlas");
}

static enum native_role classify_release(struct text function)
{
    static const struct {
        const char *start;
        enum native_role role;
    } names[] = {
        {"torch::autograd::SavedVariable::reset_data(", NATIVE_SAVED_RELEASE},
        {"torch::autograd::SavedVariable::~", NATIVE_SAVED_RELEASE},
        {"torch::autograd::Node::~", NATIVE_GRAPH_RELEASE},
        {"torch::autograd::deleteNode(", NATIVE_GRAPH_RELEASE},
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (text_starts(function, names[i].start))
            return names[i].role;
    return NATIVE_PLAIN;
}

enum native_role native_classify(struct text function, char name[NATIVE_NAME_SIZE])
{
    name[0] = '\0';
    if (function.size > NAME_PREFIX)
        function.size = NAME_PREFIX;
    if (text_starts(function, "at::_ops::"))
        return classify_operator(function, name);
    if (text_starts(function, "aten::"))
        return classify_profiled(function, name);
    if (text_starts(function, "autograd::engine::"))
        return NATIVE_ENGINE;
    if (is_profiled_node(function))
        return copy_node(function, name);
    if (text_equals(function, "torch::autograd::AccumulateGrad"))
        return copy_node((struct text){"AccumulateGrad", strlen("AccumulateGrad")}, name);
    if (text_starts(function, "torch::autograd::")) {
        if (text_starts(function, "torch::autograd::Engine::") ||
            text_starts(function, "torch::autograd::Node::operator()") ||
            text_starts(function, "torch::autograd::python::PythonEngine::"))
            return NATIVE_ENGINE;
        enum native_role release = classify_release(function);
        if (release != NATIVE_PLAIN)
            return release;
        return classify_node(function, name);
    }
    if (text_starts(function, "nccl:")) /* as torch.profiler names collectives */
        return NATIVE_COMMUNICATION;
    if (text_starts(function, "c10d::")) {
        name_collective(function, name);
        return NATIVE_COMMUNICATION;
    }
    if (text_starts(function, "at::autocast::cached_cast("))
        return NATIVE_AUTOCAST;
    if (text_starts(function, "at::autocast::clear_cache("))
        return NATIVE_AUTOCAST_END;
    if (text_starts(function, "at::native::_scaled_dot_product_attention_math("))
        return NATIVE_UNFUSED;
    if (text_starts(function, "at::") && is_workspace(function))
        return NATIVE_WORKSPACE;
    return NATIVE_PLAIN;
}

bool operator_makes_storage(struct text name)
{
    static const char space[] = "aten::";
    char bare[NATIVE_NAME_SIZE];
    size_t size = sizeof(space) - 1;
    if (!text_starts(name, space) || name.size >= sizeof(bare))
        return false;
    memcpy(bare, name.bytes + size, name.size - size);
    bare[name.size - size] = '\0';
    return is_one_of(bare, factories, COUNT(factories)) || is_one_of(bare, fills, COUNT(fills));
}

bool operator_computes(struct text name)
{
    return name.size > 0 && !operator_makes_storage(name);
}

static int compare_names(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

bool operator_is_elementwise(struct text op)
{
    static const char *const names[] = {
        "_to_copy",  "abs",        "add",        "addcdiv", "addcmul",   "clamp", "clamp_max",
        "clamp_min", "cos",        "div",        "elu",     "erf",       "exp",   "gelu",
        "hardtanh",  "huber_loss", "leaky_relu", "lerp",    "log",       "log1p", "masked_fill",
        "maximum",   "minimum",    "mse_loss",   "mul",     "neg",       "pow",   "reciprocal",
        "relu",      "rsqrt",      "rsub",       "sigmoid", "silu",      "sin",   "smooth_l1_loss",
        "softplus",  "sqrt",       "sub",        "tanh",    "threshold", "where"};
    char name[16];
    if (!text_starts(op, "aten::") || op.size - strlen("aten::") >= sizeof(name))
        return false;
    size_t size = op.size - strlen("aten::");
    memcpy(name, op.bytes + strlen("aten::"), size);
    name[size] = '\0';
    return bsearch(name, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]),
                   compare_names) != NULL;
}
