/* libFuzzer entry: any bytes as a layer trace or as MemoryTracker's curves, reported both ways and
 * converted, under a small memory budget. What is written in one format must come back the same. */
#include <stdlib.h>
#include <string.h>

#include "analysis/layers/layers.h"
#include "analysis/layers/operator_curves.h"
#include "render/layers/convert.h"
#include "render/layers/layers.h"
#include "render/layers/operator_curves.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((size_t)8 << 20)

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static struct layer_trace *reload(const struct layer_trace *trace,
                                  bool (*write)(FILE *, const struct layer_trace *))
{
    char *bytes = NULL;
    size_t size = 0;
    struct error err;
    FILE *out = open_memstream(&bytes, &size);
    require(out != NULL);
    require(write(out, trace));
    require(fclose(out) == 0);
    struct layer_trace *again = layer_trace_load_memory(bytes, size, 16 * MEMORY, &err);
    free(bytes);
    return again;
}

static bool same_list(const struct layer_trace *a, struct storage_list x,
                      const struct layer_trace *b, struct storage_list y)
{
    return x.count == y.count &&
           (x.count == 0 || memcmp(&a->storage_numbers[x.first], &b->storage_numbers[y.first],
                                   x.count * sizeof(*a->storage_numbers)) == 0);
}

static void check_same(const struct layer_trace *a, struct layer_trace *b)
{
    require(b != NULL && a->count == b->count && a->present == b->present);
    require(a->facts.present == b->facts.present && a->storage_count == b->storage_count);
    for (size_t i = 0; i < a->count; i++) {
        struct layer_row x = a->rows[i], y = b->rows[i];
        struct text name_x = layer_name(a, &x), name_y = layer_name(b, &y);
        x.module_name = y.module_name = 0;
        require(x.present == y.present && x.allocated == y.allocated && x.reserved == y.reserved &&
                x.memory_diff == y.memory_diff && x.forward_us == y.forward_us &&
                x.backward_us == y.backward_us && x.module_params == y.module_params &&
                x.depth == y.depth && x.is_forward == y.is_forward);
        require(x.is_leaf == y.is_leaf && x.plain == y.plain && x.tail_us == y.tail_us &&
                x.output_bytes == y.output_bytes && x.gradient_bytes == y.gradient_bytes &&
                x.peak_bytes == y.peak_bytes && same_list(a, x.reads, b, y.reads) &&
                same_list(a, x.saves, b, y.saves));
        require(name_x.size == name_y.size && memcmp(name_x.bytes, name_y.bytes, name_x.size) == 0);
    }
    layer_trace_destroy(b);
}

static void try_trace(struct layer_trace *trace, FILE *out)
{
    const struct layers_options options = {.top = 7, .ranks = 3};
    struct page page = {.out = out, .width = 80};
    struct error err;
    struct layers_report *report = layers_report_build(trace, &options, &err);
    if (report) {
        struct layers_analysis analysis = {
            .path = "fuzz", .report = report, .producers = 3, .shards = 4, .verbose = true};
        layers_text(&page, &analysis);
        layers_json(out, &analysis);
    }
    layers_report_destroy(report);
    check_same(trace, reload(trace, layers_write_msgpack));
    layer_trace_destroy(trace);
}

static void try_curves(const uint8_t *data, size_t size, FILE *out)
{
    struct page page = {.out = out, .width = 80};
    struct input input;
    struct error err;
    if (!input_from_memory(&input, data, size, MEMORY, &err))
        return;
    struct operator_curves *curves = operator_curves_load_input(&input, &err);
    if (!curves)
        return;
    struct curves_report *report = curves_report_build(curves, &err);
    if (report) {
        const struct curves_analysis analysis = {.path = "fuzz", .report = report, .top = 5};
        curves_text(&page, &analysis);
        curves_json(out, &analysis);
    }
    curves_report_destroy(report);
    operator_curves_destroy(curves);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct error err;
    if (!out)
        out = fopen("/dev/null", "w");
    require(out != NULL);
    struct layer_trace *trace = layer_trace_load_memory(data, size, MEMORY, &err);
    if (trace)
        try_trace(trace, out);
    else
        try_curves(data, size, out);
    return 0;
}
