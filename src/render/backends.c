#include "render/backends.h"

#include <string.h>

#include "render/core/rows.h"
#include "solve/cpu/cpu.h"

#define SCHEMA "memsnap.backends/1"

#define ROW struct backend_row
static const struct row_type backend_type = ROW_TYPE(
    "backends", ROW, FIELD(ROW, WORD, name, .title = "back end"),
    FIELD_AS(ROW, FLAG, "usable", place.usable, .title = "works"),
    FIELD_AS(ROW, CHARS, "runs_on", place.what, IF(ROW, place.usable), .flags = FIELD_NULL),
    FIELD_AS(ROW, FLAG, "is_cpu", place.is_cpu, IF(ROW, place.usable), .flags = FIELD_NULL),
    FIELD_AS(ROW, CHARS, "why_not", place.what, UNLESS(ROW, place.usable), .flags = FIELD_NULL),
    FIELD_AS(ROW, CHARS, NULL, place.what, .title = "on, or why not", .is_prose = true));
#undef ROW

static const char *advice(bool gpu, bool driver_for_cpu)
{
    if (gpu)
        return "--backend auto takes a GPU where that should save time: it takes 0.3 to 0.5 s to "
               "start, so it "
               "pays from about that much time of the CPU. The result is the same, bit for bit.";
    if (driver_for_cpu)
        return "--backend auto stays on the cpu here: the other one that works is a driver for the "
               "same processor, slower than memsnap's own code. The result is the same, bit for "
               "bit.";
    return "--backend auto stays on the cpu here, and misses little: a GPU takes 0.3 to 0.5 s to "
           "start, so it "
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
    if (!rows_print(page, 0, &backend_type, rows, count, &(struct field_context){0}))
        return false;
    fputc('\n', page->out);
    page_paragraph(page, 0, 0, advice(gpu, driver_for_cpu));
    return true;
}

bool backends_json(FILE *out, const struct backend_row *rows, size_t count)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_rows(&json, &backend_type, rows, count, &(struct field_context){0});
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
