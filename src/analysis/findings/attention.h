/* Attention that no fused kernel computes: a matrix product, softmax, perhaps dropout, and another
 * product. It keeps matrices of the square of the sequence's length for the backward pass, which
 * fused attention computes again instead. Where the program reads the result of softmax after the
 * pass, as attention weights, there are none: fused attention cannot return it. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_ATTENTION_H
#define MEMSNAP_ANALYSIS_FINDINGS_ATTENTION_H

#include "analysis/code/site.h"
#include "analysis/oom/oom.h"
#include "analysis/phase/phases.h"

struct attention {
    uint8_t *is_part; /* a flag for each lifetime: one of these matrices */
    bool is_biased;   /* something is added to the products somewhere: a bias, or a mask */
    size_t capacity;
    struct budget *budget;      /* not owned */
    uint32_t failed[OOMS_MOST]; /* the `oom` events whose requests are for such a matrix */
    size_t failed_count;
};

/* Finds the matrices in the whole trace. The operators are known by C++ frames. Python frames alone
 * show torch's softmax() where a function or its file is named after attention, and the products by
 * their sizes. Of the requests that failed, the last OOMS_MOST are looked at. One is for such a
 * matrix if it is near a product, as large, and for a softmax or after one; or if the same line and
 * operator have made such a matrix before. */
bool attention_find(struct attention *attention, const struct timeline *timeline,
                    struct site_table *sites, const struct phases *phases, struct error *err);
/* Sets `of_attention` of the rows whose requests are not small. */
void attention_mark_ooms(const struct attention *attention, struct ooms *ooms);
/* Sets `*save_bytes` to how much lower the active peak would be without the matrices that the code
 * has made. A program that trains saves more, because its backward pass makes gradients of them. */
bool attention_saving(const struct attention *attention, const struct timeline *timeline,
                      struct site_table *sites, enum attention_code code, int64_t *save_bytes,
                      struct error *err);
void attention_release(struct attention *attention);

#endif
