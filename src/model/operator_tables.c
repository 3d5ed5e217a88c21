#include "model/operator_tables.h"

#include <stdlib.h>

#include "decode/run/operators.h"

struct loader {
    struct operator_tables *tables;
    uint32_t file;
    size_t first; /* row of the table that is read */
};

static bool take_row(void *self, const struct operator_row *row, struct error *err)
{
    struct operator_tables *tables = ((struct loader *)self)->tables;
    return vec_push(tables->rows, tables->row_count, tables->row_capacity, tables->budget, err,
                    *row);
}

static bool take_table(void *self, const struct operator_table_facts *facts, struct error *err)
{
    struct loader *loader = self;
    struct operator_tables *tables = loader->tables;
    const struct operator_table table = {.facts = *facts,
                                         .file = loader->file,
                                         .first = loader->first,
                                         .count = tables->row_count - loader->first};
    loader->first = tables->row_count;
    return vec_push(tables->tables, tables->count, tables->capacity, tables->budget, err, table);
}

bool operator_tables_add(struct operator_tables *tables, uint32_t file, struct source *source,
                         struct error *err)
{
    struct loader loader = {.tables = tables, .file = file, .first = tables->row_count};
    const struct operators_sink sink = {&loader, take_row, take_table};
    size_t count = tables->count, rows = tables->row_count;
    if (decode_operators(source, tables->symbols, &sink, err))
        return true;
    tables->count = count;
    tables->row_count = rows;
    return false;
}

void operator_tables_release(struct operator_tables *tables)
{
    vec_free(tables->tables, tables->capacity, sizeof(*tables->tables), tables->budget);
    vec_free(tables->rows, tables->row_capacity, sizeof(*tables->rows), tables->budget);
}

static bool load(struct operator_file *file, struct source *source, struct error *err)
{
    file->symbols = symbols_create(file->budget, err);
    if (!file->symbols)
        return false;
    file->tables.symbols = file->symbols;
    file->tables.budget = file->budget;
    return operator_tables_add(&file->tables, 0, source, err) &&
           (file->tables.count > 0 ||
            error_set(err, STATUS_BAD_INPUT, "no complete table of torch.profiler"));
}

struct operator_file *operator_file_load_input(struct input *input, struct error *err)
{
    struct operator_file *file = calloc(1, sizeof(*file));
    if (!file) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    file->budget = input->budget;
    file->compression = input->source.compression;
    bool ok = load(file, &input->source, err);
    input_close(input);
    file->input_bytes = input->bytes;
    if (ok)
        return file;
    operator_file_destroy(file);
    return NULL;
}

void operator_file_destroy(struct operator_file *file)
{
    if (!file)
        return;
    if (file->symbols)
        operator_tables_release(&file->tables);
    symbols_destroy(file->symbols);
    free(file->budget);
    free(file);
}
