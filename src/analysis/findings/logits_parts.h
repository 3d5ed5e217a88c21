/* What part an allocation plays in the computation of a loss from logits, by its operator. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_LOGITS_PARTS_H
#define MEMSNAP_ANALYSIS_FINDINGS_LOGITS_PARTS_H

#include "analysis/code/site.h"

enum logits_part {
    LOGITS_OTHER,
    LOGITS_LAYER, /* what may make logits: a matrix product, a convolution, or upsampling */
    LOGITS_SOFTMAX,
    LOGITS_LOG_SOFTMAX,
    LOGITS_LOSS, /* nll_loss, whose result is small */
    LOGITS_FORWARD,
    LOGITS_UNKNOWN, /* of a line that Python frames alone show: an operator, a method, a product */
    LOGITS_LOSS_BACKWARD, /* of log_softmax and nll_loss */
    LOGITS_LAYER_BACKWARD,
    LOGITS_BACKWARD,
    LOGITS_UNSEEN, /* of no line: where only Python frames are recorded, the backward pass */
};

bool logits_part_of(struct site_table *sites, stack_id stack, enum logits_part *part,
                    struct error *err);
/* True for the operators of a matrix product. */
bool logits_is_product(struct text op);

#endif
