/* The calls of modules in a profile. Internal to decode/profiler. */
#ifndef MEMSNAP_DECODE_PROFILER_MODULES_H
#define MEMSNAP_DECODE_PROFILER_MODULES_H

#include "decode/profiler/profile.h"

/* A module without modules inside, in one forward pass. Its time begins with its call and lasts
 * until that of the next one, so that functions between two modules count for the first. */
struct leaf {
    int64_t start_ns, end_ns;
    string_id path; /* "Block_0.Linear_1", below the model */
    uint32_t depth; /* below the model: from 1 */
};

/* The forward pass of a model. */
struct forward_pass {
    uint16_t thread;
    int64_t start_ns, end_ns;
    int64_t backward_end_ns; /* of the last node of its backward pass; start_ns if there is none */
    uint32_t first_node, node_count; /* sequence numbers of its autograd nodes; 0: none */
    struct leaf *leaves;
    size_t leaf_count, leaf_capacity;
};

/* Finds the last call of the model with the most modules that has a backward pass, else its last
 * call. STATUS_BAD_INPUT if there are no calls of modules. It has a leaf. */
bool forward_pass_find(struct forward_pass *pass, const struct profile *profile, struct error *err);
void forward_pass_release(struct forward_pass *pass, struct budget *budget);

/* The leaf that runs at a moment of the forward pass. */
size_t forward_pass_leaf(const struct forward_pass *pass, int64_t time_ns);

#endif
