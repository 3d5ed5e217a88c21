#include "analysis/findings/logits_parts.h"

#include "base/text.h"

bool logits_is_product(struct text op)
{
    static const char *const products[] = {"aten::mm", "aten::addmm", "aten::bmm"};
    return text_is_one_of(op, products, 3);
}

static enum logits_part forward_part(struct text op)
{
    static const char *const images[] = {"aten::convolution", "aten::_convolution",
                                         "aten::cudnn_convolution", "aten::upsample_",
                                         "aten::_upsample_"};
    if (text_equals(op, "aten::_log_softmax"))
        return LOGITS_LOG_SOFTMAX;
    if (text_equals(op, "aten::_softmax"))
        return LOGITS_SOFTMAX;
    if (text_equals(op, "aten::nll_loss_forward") || text_equals(op, "aten::nll_loss2d_forward"))
        return LOGITS_LOSS;
    return logits_is_product(op) || text_starts_with_one_of(op, images, 5) ? LOGITS_LAYER
                                                                           : LOGITS_FORWARD;
}

/* A backward pass that torch.compile compiled has no nodes, but the operators that nodes call. */
static enum logits_part compiled_part(struct text op)
{
    static const char *const losses[] = {"aten::_log_softmax_backward_data",
                                         "aten::nll_loss_backward", "aten::nll_loss2d_backward"};
    static const char *const layers[] = {"aten::convolution_backward", "aten::upsample_"};
    if (text_is_one_of(op, losses, 3))
        return LOGITS_LOSS_BACKWARD;
    return logits_is_product(op) || text_starts_with_one_of(op, layers, 2) ? LOGITS_LAYER_BACKWARD
                                                                           : LOGITS_BACKWARD;
}

static enum logits_part backward_part(struct text node, struct text op)
{
    static const char *const losses[] = {"LogSoftmaxBackward0", "NllLossBackward0",
                                         "NllLoss2DBackward0"};
    static const char *const layers[] = {"MmBackward",  "AddmmBackward",    "BmmBackward",
                                         "Convolution", "CudnnConvolution", "Upsample"};
    if (node.size == 0)
        return compiled_part(op);
    if (text_is_one_of(node, losses, 3))
        return LOGITS_LOSS_BACKWARD;
    return text_starts_with_one_of(node, layers, 6) ? LOGITS_LAYER_BACKWARD : LOGITS_BACKWARD;
}

/* The operator of a stack without C++ frames is known for few functions. The backward pass runs in
 * a thread of autograd, where no Python or only torch's own is running. */
static enum logits_part part_without_op(const struct symbols *symbols, stack_id stack,
                                        const struct stack_facts *facts)
{
    bool is_empty = stack == STACK_NONE || symbols_stack_at(symbols, stack).count == 0;
    if (!is_empty && !facts_are_of_python(facts))
        return LOGITS_FORWARD;
    return facts->site.user_frame != NO_FRAME ? LOGITS_UNKNOWN : LOGITS_UNSEEN;
}

bool logits_part_of(struct site_table *sites, stack_id stack, enum logits_part *part,
                    struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(sites, stack, err);
    if (!facts)
        return false;
    const struct symbols *symbols = site_table_symbols(sites);
    struct text op = site_operator(sites, facts);
    if (facts->is_workspace)
        *part = LOGITS_OTHER;
    else if (facts->site.has_backward)
        *part = backward_part(symbols_text(symbols, facts->site.node), op);
    else if (op.size > 0)
        *part = forward_part(op);
    else
        *part = part_without_op(symbols, stack, facts);
    return true;
}
