/* The tables of FSDP memory as JSON. */
#include "render/run/internal.h"

static const char *const kind_keys[RUN_KINDS] = {
    [RUN_SHARDED_PARAM] = "sharded_param_bytes",
    [RUN_UNSHARDED_PARAM] = "unsharded_param_bytes",
    [RUN_PARAM] = "parameter_bytes",
    [RUN_BUFFER] = "buffer_bytes",
    [RUN_SHARDED_GRAD] = "sharded_grad_bytes",
    [RUN_UNSHARDED_GRAD] = "unsharded_grad_bytes",
    [RUN_GRAD] = "gradient_bytes",
    [RUN_ACTIVATION] = "activation_bytes",
    [RUN_TEMP] = "temp_bytes",
    [RUN_ALL_GATHER] = "all_gather_bytes",
    [RUN_REDUCE_SCATTER] = "reduce_scatter_bytes",
    [RUN_OPT_STATE] = "optstate_bytes",
    [RUN_INPUTS] = "inputs_bytes",
    [RUN_OTHER] = "other_bytes",
    [RUN_TOTAL] = "total_bytes",
};

static const char *const state_names[RUN_STATES] = {
    [RUN_STATE_NONE] = "peak",
    [RUN_PEAK_FORWARD] = "peak-forward",
    [RUN_BEFORE_PRE_FORWARD] = "before-pre-forward",
    [RUN_PRE_FORWARD] = "pre-forward",
    [RUN_AFTER_PRE_FORWARD] = "after-pre-forward",
    [RUN_BEFORE_POST_FORWARD] = "before-post-forward",
    [RUN_POST_FORWARD] = "post-forward",
    [RUN_AFTER_POST_FORWARD] = "after-post-forward",
    [RUN_PEAK_BACKWARD] = "peak-backward",
    [RUN_BEFORE_PRE_BACKWARD] = "before-pre-backward",
    [RUN_PRE_BACKWARD] = "pre-backward",
    [RUN_AFTER_PRE_BACKWARD] = "after-pre-backward",
    [RUN_BEFORE_POST_BACKWARD] = "before-post-backward",
    [RUN_POST_BACKWARD] = "post-backward",
    [RUN_AFTER_POST_BACKWARD] = "after-post-backward",
    [RUN_PRE_FORWARD_AC] = "pre-forward-ac",
    [RUN_POST_FORWARD_AC] = "post-forward-ac",
};

/* The members of a row. */
static void put_bytes(struct json_writer *json, const int64_t bytes[RUN_KINDS])
{
    for (size_t i = 0; i < RUN_KINDS; i++)
        if (bytes[i] != RUN_NO_BYTES)
            json_put_integer(json, kind_keys[i], bytes[i]);
}

static void put_row(struct json_writer *json, const char *key, const struct memory_run *run,
                    const struct run_table_row *row)
{
    json_put_open(json, key, '{');
    if (row->call > 0) {
        json_put_string(json, "state", state_names[row->state]);
        json_put_count(json, "call", row->call);
    }
    json_put_text(json, "device", symbols_text(run->symbols, row->device));
    put_bytes(json, row->bytes);
    if (row->slack > 0)
        json_put_integer(json, "rounded_by_bytes", row->slack);
    json_put_close(json, '}');
}

static void put_module(struct json_writer *json, const struct memory_run *run,
                       const struct run_module *module)
{
    json_put_open(json, NULL, '{');
    json_put_text(json, "name", symbols_text(run->symbols, module->name));
    json_put_integer(json, "peak_bytes", module->peak_bytes);
    if (module->before_bytes != RUN_ABSENT && module->after_bytes != RUN_ABSENT)
        json_put_integer(json, "forward_change_bytes", module->after_bytes - module->before_bytes);
    json_put_open(json, "states", '[');
    for (size_t i = 0; i < module->count; i++)
        put_row(json, NULL, run, &run->rows[module->first + i]);
    json_put_close(json, ']');
    json_put_close(json, '}');
}

static void put_tables(struct json_writer *json, const struct memory_run *run,
                       const struct run_tables *tables)
{
    const struct run_table *table = tables->table;
    json_put_open(json, NULL, '{');
    json_put_text(json, "function", symbols_text(run->symbols, table->key.function));
    json_put_count(json, "iteration", table->key.iteration);
    json_put_text(json, "path", symbols_text(run->symbols, run->files[table->file].path));
    if (tables->peak)
        put_row(json, "peak", run, tables->peak);
    json_put_open(json, "devices", '[');
    for (size_t i = 0; i < table->count; i++)
        if (run->rows[table->first + i].module == STRING_EMPTY)
            put_row(json, NULL, run, &run->rows[table->first + i]);
    json_put_close(json, ']');
    json_put_open(json, "modules", '[');
    for (size_t i = 0; i < tables->module_count; i++)
        put_module(json, run, &tables->modules[i]);
    json_put_close(json, ']');
    json_put_close(json, '}');
}

bool run_put_tables(struct json_writer *json, const struct run_report *report,
                    const struct run_rank *rank)
{
    const struct memory_run *run = report->run;
    json_put_open(json, "fsdp", '[');
    for (size_t i = 0; i < rank->table_count; i++) {
        struct error ignored;
        struct run_tables tables;
        if (!run_tables_make(&tables, run, &run->tables[rank->first_table + i], &ignored))
            return false;
        put_tables(json, run, &tables);
        run_tables_release(&tables, run);
    }
    json_put_close(json, ']');
    return true;
}
