/* The role of a C++ function by its name: an operator, an autograd node, the autograd engine,
 * communication, or a library's workspace. */
#ifndef MEMSNAP_ANALYSIS_CODE_OPERATORS_H
#define MEMSNAP_ANALYSIS_CODE_OPERATORS_H

#include <stdbool.h>

#include "base/symbols.h"

enum native_role {
    NATIVE_PLAIN,
    NATIVE_OPERATOR,      /* at::_ops::NAME::call or redispatch, or "aten::NAME" in a profile:
                             named "aten::NAME" */
    NATIVE_TO_DEVICE,     /* an operator behind Tensor.to(device), which may convert nothing */
    NATIVE_FACTORY,       /* an operator that only makes storage: empty, resize_, ... */
    NATIVE_NODE,          /* NAME::apply of an autograd node: named "NAME" */
    NATIVE_ENGINE,        /* the autograd engine itself */
    NATIVE_AUTOCAST,      /* autocast converts an argument of an operator */
    NATIVE_AUTOCAST_END,  /* autocast drops its copies of weights */
    NATIVE_GRAPH_RELEASE, /* a node of an autograd graph is released */
    NATIVE_SAVED_RELEASE, /* a tensor that a node saved for the backward pass is released */
    NATIVE_COMMUNICATION, /* c10d: named "c10d::NAME" where it is a collective, else unnamed */
    NATIVE_UNFUSED,       /* scaled_dot_product_attention() without a fused kernel */
    NATIVE_WORKSPACE,     /* scratch space that a library keeps: cuBLAS, cuDNN */
};

#define NATIVE_NAME_SIZE 128

/* Fills `name` for roles that have one, else with "". Only the first 512 bytes of `function` are
 * examined. */
enum native_role native_classify(struct text function, char name[NATIVE_NAME_SIZE]);

/* True for "aten::empty", "aten::zeros_like" and others that make a tensor from no other's values.
 */
bool operator_makes_storage(struct text name);
/* True if the operator is known, and does more than that. `name` is "" if C++ frames are missing.
 */
bool operator_computes(struct text name);

/* True for "aten::mul", "aten::gelu" and others that compute each value from values of the same
 * position. */
bool operator_is_elementwise(struct text name);

#endif
