#include <string.h>

#include "analysis/layers/internal.h"

static void add_row(struct layers_module *module, const struct layer_row *row)
{
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

bool layers_build_modules(struct layers_report *report, struct error *err)
{
    const struct layer_trace *trace = report->trace;
    size_t names = symbols_string_count(trace->symbols), capacity = 0;
    uint32_t *of_name = NULL; /* the module's index plus one */
    if (!vec_grow((void **)&of_name, &capacity, names, sizeof(*of_name), trace->budget, err))
        return false;
    memset(of_name, 0, capacity * sizeof(*of_name));
    bool ok = true;
    for (size_t i = 0; ok && i < trace->count; i++) {
        uint32_t *index = &of_name[trace->rows[i].module_name];
        if (*index == 0) {
            ok = vec_grow((void **)&report->modules, &report->module_capacity,
                          report->module_count + 1, sizeof(*report->modules), trace->budget, err);
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
