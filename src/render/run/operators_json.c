#include "render/core/input_line.h"
#include "render/run/operators.h"

#define SCHEMA "memsnap.analyze/1"

static const char *const keys[OPERATOR_FIGURES] = {
    [OPERATOR_SELF_CPU_TIME] = "self_cpu_ns",           [OPERATOR_CPU_TIME] = "cpu_ns",
    [OPERATOR_SELF_DEVICE_TIME] = "self_device_ns",     [OPERATOR_DEVICE_TIME] = "device_ns",
    [OPERATOR_SELF_CPU_BYTES] = "self_cpu_bytes",       [OPERATOR_CPU_BYTES] = "cpu_bytes",
    [OPERATOR_SELF_DEVICE_BYTES] = "self_device_bytes", [OPERATOR_DEVICE_BYTES] = "device_bytes",
};

static void put_row(struct json_writer *json, const struct operator_tables *tables,
                    const struct operator_table *table, const struct operator_row *row)
{
    int64_t slack = 0;
    json_put_open(json, NULL, '{');
    json_put_name(json, "name", symbols_text(tables->symbols, row->name));
    if (row->shapes != STRING_EMPTY)
        json_put_name(json, "shapes", symbols_text(tables->symbols, row->shapes));
    json_put_integer(json, "calls", row->calls);
    for (enum operator_figure i = 0; i < OPERATOR_FIGURES; i++) {
        if (!operator_table_has(table, i))
            continue;
        json_put_integer(json, keys[i], row->values[i]);
        if (i >= OPERATOR_BYTES && row->slack[i] > slack)
            slack = row->slack[i];
    }
    if (slack > 0)
        json_put_integer(json, "rounded_by_bytes", slack);
    json_put_close(json, '}');
}

static bool put_table(struct json_writer *json, const struct operator_tables *tables,
                      const struct operator_table *table, const struct text *path)
{
    const struct operator_table_facts *facts = &table->facts;
    struct operator_ranking ranking;
    struct error ignored;
    if (!operators_rank(&ranking, tables, table, &ignored))
        return false;
    json_put_open(json, NULL, '{');
    if (path)
        json_put_text(json, "path", *path);
    json_put_count(json, "line", facts->line);
    if (facts->device != STRING_EMPTY)
        json_put_text(json, "device", symbols_text(tables->symbols, facts->device));
    json_put_string(json, "sorted_by", keys[ranking.by]);
    if (facts->totals[0] >= 0)
        json_put_integer(json, "self_cpu_ns", facts->totals[0]);
    if (facts->totals[1] >= 0)
        json_put_integer(json, "self_device_ns", facts->totals[1]);
    json_put_integer(json, "left_out_self_cpu_ns", ranking.left_out_ns);
    json_put_open(json, "operators", '[');
    for (size_t i = 0; i < table->count; i++)
        put_row(json, tables, table, ranking.rows[i]);
    json_put_close(json, ']');
    json_put_close(json, '}');
    operator_ranking_release(&ranking);
    return true;
}

bool operators_put(struct json_writer *json, const struct operator_tables *tables,
                   struct text (*path_of)(const void *self, uint32_t file), const void *self)
{
    json_put_open(json, "operator_tables", '[');
    for (size_t i = 0; i < tables->count; i++) {
        const struct operator_table *table = &tables->tables[i];
        struct text path = path_of ? path_of(self, table->file) : (struct text){"", 0};
        if (!put_table(json, tables, table, path_of ? &path : NULL))
            return false;
    }
    json_put_close(json, ']');
    return true;
}

bool operators_json(FILE *out, const struct operators_analysis *analysis)
{
    const struct operator_file *file = analysis->file;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = file->input_bytes,
                                     .encoding = ENCODING_TEXT,
                                     .compression = file->compression};
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_input(&json, "input", "profiler-table", &input);
    if (!operators_put(&json, &file->tables, NULL, NULL)) {
        json_writer_release(&json);
        return false;
    }
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
