/* libFuzzer entry: any bytes as statistics, as tables of a run of MemProfiler, and as tables of
 * torch.profiler, up to its report.
 */
#include <stdio.h>
#include <stdlib.h>

#include "render/run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(struct memory_run *run)
{
    char *bytes = NULL;
    size_t size = 0;
    struct error err;
    memory_run_finish(run);
    struct run_report *report = run_report_build(run, &err);
    FILE *stream = report ? open_memstream(&bytes, &size) : NULL;
    if (stream) {
        const struct run_analysis list = {.path = "fuzz", .report = report};
        const struct run_analysis tree = {
            .path = "fuzz", .report = report, .top = 3, .top_given = true, .depth = 2};
        struct page page = page_for(stream, UNIT_AUTO);
        run_text(&page, &list);
        run_text(&page, &tree);
        run_json(stream, &list);
        fclose(stream);
    }
    free(bytes);
    run_report_destroy(report);
}

typedef bool adder(struct memory_run *run, struct input *input, struct error *err);

static bool add_stats(struct memory_run *run, struct input *input, struct error *err)
{
    return memory_run_add_stats(run, "stats", input, err);
}

static bool add_tables(struct memory_run *run, struct input *input, struct error *err)
{
    return memory_run_add_tables(run, "tables", 0, input, err);
}

static bool add_operators(struct memory_run *run, struct input *input, struct error *err)
{
    return memory_run_add_operators(run, "operators", input, err);
}

/* Twice, so that the files are compared. A failure must leave the run as it was. */
static void try(adder *add, const uint8_t *data, size_t size)
{
    struct error err;
    struct memory_run *run = memory_run_create((size_t)32 << 20, &err);
    bool ok = run;
    for (int i = 0; ok && i < 2; i++) {
        struct input input;
        ok = input_from_memory(&input, data, size, (size_t)8 << 20, &err) && add(run, &input, &err);
        if (!ok && run->point_count + run->row_count + run->operators.count > 0 &&
            run->file_count == 0)
            __builtin_trap();
    }
    if (ok)
        render(run);
    memory_run_destroy(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try(add_stats, data, size);
    try(add_tables, data, size);
    try(add_operators, data, size);
    return 0;
}
