#define _GNU_SOURCE /* qsort_r */
#include "analysis/layers/layers.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/layers/tree.h"

#define LEAST_BYTES ((int64_t)1 << 20) /* rows with at least as many bytes show type sizes */
#define UNIT_PART   4                  /* a block holds at most a quarter of all parameters */
#define WORTH_PART  100                /* less than a hundredth is not worth it */

static void note_peak(struct layers_peak *peak, int64_t bytes, size_t row)
{
    if (peak->row == LAYERS_NONE || bytes > peak->bytes)
        *peak = (struct layers_peak){bytes, (uint32_t)row};
}

static void add_up(struct layers_report *report)
{
    report->allocated.row = report->reserved.row = report->gathered.row = LAYERS_NONE;
    for (size_t i = 0; i < report->trace->count; i++) {
        const struct layer_row *row = &report->trace->rows[i];
        note_peak(&report->allocated, row->allocated, i);
        note_peak(&report->reserved, row->reserved, i);
        note_peak(&report->gathered, row->cumul_all_gathered, i);
        if (row->is_forward) {
            report->total_activations += row->memory_activations;
            report->total_forward += row->memory_diff;
            report->gathered_forward += row->all_gathered;
        } else {
            report->gathered_backward += row->all_gathered;
        }
    }
}

static int by_activations(const void *left, const void *right, void *rows_of)
{
    const struct layer_row *rows = rows_of;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (rows[a].memory_activations != rows[b].memory_activations)
        return rows[a].memory_activations < rows[b].memory_activations ? 1 : -1;
    return (a > b) - (a < b);
}

static bool rank_producers(struct layers_report *report, struct error *err)
{
    const struct layer_trace *trace = report->trace;
    if (!vec_reserve(report->producers, report->producer_capacity, trace->forward_count,
                     trace->budget, err))
        return false;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->rows[i].is_forward && layer_is_leaf(&trace->rows[i]))
            report->producers[report->producer_count++] = (uint32_t)i;
    if (report->producer_count)
        qsort_r(report->producers, report->producer_count, sizeof(*report->producers),
                by_activations, (void *)trace->rows);
    return true;
}

/* FairScale counts 4 bytes for every type but float16. For modules that allocate nothing but their
 * output, the ratio of its size to what was allocated shows the error. Returns the percentage that
 * most of the bytes agree on, if some type explains it, else 0. */
static uint64_t type_size_percent(const struct layer_trace *trace)
{
    static const uint64_t percents[] = {50, 200, 400}; /* float64, bfloat16, 8-bit types */
    int64_t agreeing[3] = {0}, all = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct layer_row *row = &trace->rows[i];
        if (!row->is_forward || row->memory_diff < LEAST_BYTES || row->memory_activations == 0)
            continue;
        double percent = 100.0 * (double)row->memory_activations / (double)row->memory_diff;
        all += row->memory_diff;
        for (size_t n = 0; n < 3; n++)
            if (percent > 0.98 * (double)percents[n] && percent < 1.02 * (double)percents[n])
                agreeing[n] += row->memory_diff;
    }
    for (size_t n = 0; n < 3; n++)
        if (agreeing[n] > all / 2)
            return percents[n];
    return 0;
}

static void add_row(struct layers_module *module, const struct layer_row *row)
{
    module->is_leaf = layer_is_leaf(row);
    if (row->module_params > module->params)
        module->params = row->module_params;
    if (row->forward_us > module->forward_us)
        module->forward_us = row->forward_us;
    if (row->backward_us > module->backward_us)
        module->backward_us = row->backward_us;
    module->all_gathered += row->all_gathered;
    if (!row->is_forward) {
        module->backward_rows++;
        return;
    }
    module->forward_rows++;
    module->activations += row->memory_activations;
    module->memory_diff += row->memory_diff;
    module->saved += row->saved_activations;
}

static bool build_modules(struct layers_report *report, struct error *err)
{
    const struct layer_trace *trace = report->trace;
    size_t names = symbols_string_count(trace->symbols), capacity = 0;
    uint32_t *of_name = NULL; /* by string id: the module's index plus one */
    if (!vec_reserve(of_name, capacity, names, trace->budget, err))
        return false;
    memset(of_name, 0, capacity * sizeof(*of_name));
    bool ok = true;
    for (size_t i = 0; ok && i < trace->count; i++) {
        uint32_t *index = &of_name[trace->rows[i].module_name];
        if (*index == 0) {
            ok = vec_reserve(report->modules, report->module_capacity, report->module_count + 1,
                             trace->budget, err);
            if (!ok)
                break;
            report->modules[report->module_count++] =
                (struct layers_module){.name = trace->rows[i].module_name};
            *index = (uint32_t)report->module_count;
        }
        add_row(&report->modules[*index - 1], &trace->rows[i]);
    }
    vec_free(of_name, capacity, sizeof(*of_name), trace->budget);
    return ok;
}

/* The bytes that each rank saves if it keeps only its own shard. */
static int64_t saved_per_rank(int64_t params, int64_t ranks)
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
        if (!vec_reserve(report->shards, report->shard_capacity, report->shard_count + 1,
                         report->trace->budget, err))
            return false;
        int64_t saved = saved_per_rank(node->params, report->options.ranks);
        report->shards[report->shard_count++] =
            (struct layers_shard){.node = (uint32_t)i, .saved_bytes = saved};
        report->shard_saved += saved;
    }
    return true;
}

static void choose_worthwhile(struct layers_report *report)
{
    bool any = report->shard_saved >= report->allocated.bytes / WORTH_PART;
    for (size_t i = 0; i < report->shard_count; i++) {
        struct layers_shard *shard = &report->shards[i];
        shard->worth = any && shard->saved_bytes > report->shard_saved / WORTH_PART;
        report->worth_saved += shard->worth ? shard->saved_bytes : 0;
    }
}

static bool build_shards(struct layers_report *report, struct error *err)
{
    size_t capacity = 0;
    bool *inside = NULL; /* by node: it is a block or lies in one */
    if (!vec_reserve(inside, capacity, report->node_count, report->trace->budget, err))
        return false;
    bool ok = add_units(report, inside, err);
    vec_free(inside, capacity, sizeof(*inside), report->trace->budget);
    if (ok && report->shard_count)
        qsort(report->shards, report->shard_count, sizeof(*report->shards), by_saved);
    if (ok)
        choose_worthwhile(report);
    return ok;
}

static void find_notices(struct layers_report *report)
{
    const struct layer_trace *trace = report->trace;
    uint64_t *notices = report->notices;
    notices[LAYERS_EMPTY] = trace->count == 0;
    notices[LAYERS_NO_FORWARD] = trace->count > 0 && trace->forward_count == 0;
    notices[LAYERS_NO_BACKWARD] = trace->count > 0 && trace->forward_count == trace->count;
    for (size_t i = 0; i < report->module_count; i++)
        notices[LAYERS_REPEATED] +=
            report->modules[i].is_leaf && report->modules[i].forward_rows > 1;
    if (notices[LAYERS_REPEATED] <= report->module_count / 2) /* a model may reuse some modules */
        notices[LAYERS_REPEATED] = 0;
    notices[LAYERS_TYPE_SIZE] = type_size_percent(trace);
}

struct layers_report *layers_report_build(const struct layer_trace *trace,
                                          const struct layers_options *options, struct error *err)
{
    struct layers_report *report = calloc(1, sizeof(*report));
    if (!report) {
        error_out_of_memory(err);
        return NULL;
    }
    report->trace = trace;
    report->options = *options;
    add_up(report);
    if (rank_producers(report, err) && build_modules(report, err) &&
        layers_build_tree(report, err) && build_shards(report, err)) {
        find_notices(report);
        return report;
    }
    layers_report_destroy(report);
    return NULL;
}

void layers_report_destroy(struct layers_report *report)
{
    if (!report)
        return;
    struct budget *budget = report->trace->budget;
    vec_free(report->modules, report->module_capacity, sizeof(*report->modules), budget);
    vec_free(report->producers, report->producer_capacity, sizeof(*report->producers), budget);
    vec_free(report->nodes, report->node_capacity, sizeof(*report->nodes), budget);
    vec_free(report->shards, report->shard_capacity, sizeof(*report->shards), budget);
    free(report);
}
