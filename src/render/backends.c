#include "render/backends.h"

#include <string.h>

#include "render/core/json.h"
#include "render/core/table.h"

#define SCHEMA "memsnap.backends/1"

static const struct table_column columns[] = {
    {.title = "back end", .kind = COLUMN_LABEL},
    {.title = "works", .kind = COLUMN_LABEL},
    {.title = "on, or why not", .kind = COLUMN_PROSE},
};

static bool put_table(const struct page *page, const struct backend_row *rows, size_t count)
{
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++) {
        table_add(&table, rows[i].name);
        table_add(&table, rows[i].place.usable ? "yes" : "no");
        table_add_text(&table, rows[i].place.what);
    }
    bool ok = !table_failed(&table);
    if (ok)
        table_print(&table, page, 0);
    table_release(&table);
    return ok;
}

static const char *advice(bool gpu, bool driver_for_cpu)
{
    if (gpu)
        return "--backend auto takes a GPU where that should save time: it takes 0.3 to 0.5 s to "
               "start, so "
               "it "
               "pays from about that much time of the CPU. The result is the same, bit for bit.";
    if (driver_for_cpu)
        return "--backend auto stays on the cpu here: the other one that works is a driver for the "
               "same "
               "processor, slower than memsnap's own code. The result is the same, bit for bit.";
    return "--backend auto stays on the cpu here, and misses little: a GPU takes 0.3 to 0.5 s to "
           "start, so "
           "it "
           "pays only for problems that take the CPU longer than that.";
}

bool backends_text(const struct page *page, const struct backend_row *rows, size_t count)
{
    bool gpu = false, driver_for_cpu = false;
    for (size_t i = 0; i < count; i++) {
        gpu = gpu || (rows[i].place.usable && !rows[i].place.is_cpu);
        driver_for_cpu = driver_for_cpu || (rows[i].place.usable && rows[i].place.is_cpu &&
                                            strcmp(rows[i].name, backend_cpu.name) != 0);
    }
    if (!put_table(page, rows, count))
        return false;
    fputc('\n', page->out);
    page_paragraph(page, 0, 0, advice(gpu, driver_for_cpu));
    return true;
}

static void put_row(struct json_writer *json, const struct backend_row *row)
{
    const char *what = row->place.what;
    json_put_open(json, NULL, '{');
    json_put_string(json, "name", row->name);
    json_put_bool(json, "usable", row->place.usable);
    if (row->place.usable) {
        json_put_bytes(json, "runs_on", what, strlen(what));
        json_put_bool(json, "is_cpu", row->place.is_cpu);
        json_put_null(json, "why_not");
    } else {
        json_put_null(json, "runs_on");
        json_put_null(json, "is_cpu");
        json_put_bytes(json, "why_not", what, strlen(what));
    }
    json_put_close(json, '}');
}

bool backends_json(FILE *out, const struct backend_row *rows, size_t count)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_open(&json, "backends", '[');
    for (size_t i = 0; i < count; i++)
        put_row(&json, &rows[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
