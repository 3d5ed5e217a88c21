/* The tables of operators that torch.profiler printed into a text. */
#ifndef MEMSNAP_MODEL_OPERATOR_TABLES_H
#define MEMSNAP_MODEL_OPERATOR_TABLES_H

#include "decode/core/input.h"
#include "decode/run/operator_rows.h"

struct operator_table {
    struct operator_table_facts facts;
    uint32_t file;       /* as the owner numbers files */
    size_t first, count; /* in `rows` */
};

struct operator_tables {
    struct operator_table *tables; /* in file order */
    size_t count, capacity;
    struct operator_row *rows;
    size_t row_count, row_capacity;
    struct symbols *symbols; /* not owned, like the budget */
    struct budget *budget;
};

/* Adds the tables of a text. A failure leaves what was there before. A text without tables is not a
 * failure. */
bool operator_tables_add(struct operator_tables *tables, uint32_t file, struct source *source,
                         struct error *err);
void operator_tables_release(struct operator_tables *tables);

static inline bool operator_table_has(const struct operator_table *table,
                                      enum operator_figure figure)
{
    return table->facts.present >> figure & 1;
}

/* A file of tables with its symbols. */
struct operator_file {
    struct operator_tables tables;
    enum compression compression;
    uint64_t input_bytes; /* as stored */
    struct symbols *symbols;
    struct budget *budget;
};

/* Closes the input and takes over its budget, also on failure. NULL on failure; a file without
 * tables is one. */
struct operator_file *operator_file_load_input(struct input *input, struct error *err);
void operator_file_destroy(struct operator_file *file); /* NULL is allowed */

#endif
