#include <stdlib.h>

#include "analysis/layers/internal.h"

#define UNIT_PART  4   /* a block holds at most one of so many parts of all parameters */
#define WORTH_PART 100 /* what is less than one of so many parts is not worth it */

/* What each of `ranks` is spared when it keeps its part only. */
static int64_t saved_by(int64_t params, int64_t ranks)
{
    return params - params / ranks - (params % ranks != 0);
}

static bool is_unit(const struct layers_report *report, const struct layers_node *node)
{
    return node->module != LAYERS_NONE || node->child_count == 0 ||
           node->params <= report->nodes[0].params / UNIT_PART;
}

static int by_saved(const void *left, const void *right)
{
    const struct layers_shard *a = left, *b = right;
    if (a->saved_bytes != b->saved_bytes)
        return a->saved_bytes < b->saved_bytes ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

static bool add_units(struct layers_report *report, bool *inside, struct error *err)
{
    for (size_t i = 0; i < report->node_count; i++) {
        const struct layers_node *node = &report->nodes[i];
        inside[i] = i > 0 && inside[node->parent];
        if (inside[i] || !is_unit(report, node))
            continue;
        inside[i] = true;
        if (node->params == 0)
            continue;
        if (!vec_grow((void **)&report->shards, &report->shard_capacity, report->shard_count + 1,
                      sizeof(*report->shards), report->trace->budget, err))
            return false;
        int64_t saved = saved_by(node->params, report->options.ranks);
        report->shards[report->shard_count++] =
            (struct layers_shard){.node = (uint32_t)i, .saved_bytes = saved};
        report->shard_saved += saved;
    }
    return true;
}

static void judge(struct layers_report *report)
{
    bool any = report->shard_saved >= report->allocated.bytes / WORTH_PART;
    for (size_t i = 0; i < report->shard_count; i++) {
        struct layers_shard *shard = &report->shards[i];
        shard->worth = any && shard->saved_bytes > report->shard_saved / WORTH_PART;
        report->worth_saved += shard->worth ? shard->saved_bytes : 0;
    }
}

bool layers_build_shards(struct layers_report *report, struct error *err)
{
    size_t capacity = 0;
    bool *inside = NULL; /* nodes: lies in a block, or is one */
    if (!vec_grow((void **)&inside, &capacity, report->node_count, sizeof(*inside),
                  report->trace->budget, err))
        return false;
    bool ok = add_units(report, inside, err);
    vec_free(inside, capacity, sizeof(*inside), report->trace->budget);
    if (ok && report->shard_count)
        qsort(report->shards, report->shard_count, sizeof(*report->shards), by_saved);
    if (ok)
        judge(report);
    return ok;
}
