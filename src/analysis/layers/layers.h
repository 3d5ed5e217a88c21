/* The report on a layer trace: FairScale's summary, the module tree, and what sharding would save.
 *
 * The summary has the numbers of LayerwiseMemoryTracker.summary, ties included: a maximum is the
 * first row that has it, and equal producers stay in file order. Sizes are the file's own;
 * FairScale computes them with 2 bytes for float16 and 4 for any other type. */
#ifndef MEMSNAP_ANALYSIS_LAYERS_LAYERS_H
#define MEMSNAP_ANALYSIS_LAYERS_LAYERS_H

#include "model/layer_trace.h"

#define LAYERS_NONE UINT32_MAX

/* A maximum over the rows; row is LAYERS_NONE if there are none. */
struct layers_peak {
    int64_t bytes;
    uint32_t row;
};

/* A module that ran, identified by its name; in order of first appearance. */
struct layers_module {
    string_id name;
    uint32_t forward_rows, backward_rows;
    int64_t params;      /* the largest of its rows: with FSDP, some rows have only part of them */
    int64_t activations; /* of all forward rows together, as are the following */
    int64_t memory_diff;
    int64_t all_gathered;           /* forward and backward */
    int64_t saved;                  /* saved_activations */
    bool is_leaf;                   /* has no children; FairScale tracks only these */
    double forward_us, backward_us; /* the largest of its rows */
};

/* A node of the module tree: "a.b.c" lies in "a.b". Components that begin with _ (wrappers
 * of FSDP and checkpointing) are left out, as FairScale does in its output. */
struct layers_node {
    struct text component; /* in the module names; "" for the root, which is node 0 */
    uint32_t parent;       /* LAYERS_NONE for the root; less than the node's own index */
    uint32_t first_child, last_child, next_sibling, child_count;
    uint32_t module;                           /* LAYERS_NONE if it only contains others */
    int64_t params, activations, all_gathered; /* including everything in it */
    int64_t own_params;                        /* beside those of its children */
    uint32_t modules;
    bool shown;    /* has a line in the report */
    bool expanded; /* its children have lines, too */
};

/* A block that FSDP might wrap: an outermost node that holds at most a quarter of all parameters or
 * is a module that ran. The largest first. */
struct layers_shard {
    uint32_t node;
    int64_t saved_bytes; /* per rank: its parameters without the rank's own shard */
    bool worth; /* all blocks together save at least 1% of the peak of allocated memory, and
                   this one more than 1% of what they save */
};

enum layers_notice {
    LAYERS_EMPTY,
    LAYERS_NO_FORWARD,
    LAYERS_NO_BACKWARD,
    LAYERS_REPEATED,  /* number: modules with several forward rows, if over half have */
    LAYERS_TYPE_SIZE, /* number: FairScale's sizes in percent of what was allocated */
    LAYERS_NOTICES,
};

struct layers_options {
    size_t top;     /* lines of the tree; 0 for all */
    uint32_t ranks; /* at least 2 */
};

struct layers_report {
    const struct layer_trace *trace; /* not owned */
    struct layers_options options;
    struct layers_peak allocated, reserved, gathered; /* `gathered`: of cumul_all_gathered */
    int64_t total_activations, total_forward;         /* memory_activations, memory_diff */
    int64_t gathered_forward, gathered_backward;      /* all_gathered */
    struct layers_module *modules;
    size_t module_count, module_capacity;
    uint32_t *producers; /* forward rows, by memory_activations */
    size_t producer_count, producer_capacity;
    struct layers_node *nodes;
    size_t node_count, node_capacity;
    size_t cut_nodes; /* children of the root without a line */
    struct layers_shard *shards;
    size_t shard_count, shard_capacity;
    int64_t shard_saved, worth_saved; /* of all shards; of those that are worth it */
    uint64_t notices[LAYERS_NOTICES]; /* 0 if it does not apply; else its number, or 1 */
};

/* NULL on failure. The memory of the report is counted in the trace's budget. */
struct layers_report *layers_report_build(const struct layer_trace *trace,
                                          const struct layers_options *options, struct error *err);
void layers_report_destroy(struct layers_report *report); /* NULL is fine */

/* True if FSDP gathered anything. */
static inline bool layers_gathered(const struct layers_report *report)
{
    return report->gathered_forward + report->gathered_backward + report->gathered.bytes > 0;
}

#endif
