/* The tables of FSDP memory of a run: peaks by kind, and modules. */
#ifndef MEMSNAP_ANALYSIS_RUN_TABLES_H
#define MEMSNAP_ANALYSIS_RUN_TABLES_H

#include "analysis/run/report.h"

/* A module on the table's main device. */
struct run_module {
    string_id name;
    uint32_t depth;                    /* 0: the outermost */
    size_t first, count;               /* its rows of all devices, in run->rows */
    int64_t peak_bytes;                /* the highest total while it ran */
    int64_t peak_kinds[RUN_KINDS];     /* at that peak, by kind; RUN_NO_BYTES: no such column */
    int64_t before_bytes, after_bytes; /* totals before and after its first forward pass, or
                                          RUN_ABSENT */
};

/* A device and its part of the tables. Devices are never summed. */
struct run_tables {
    const struct run_table *table;
    string_id device;                     /* the one with the highest total at the peak */
    const struct run_table_row *peak;     /* NULL: only modules were printed */
    struct run_module *modules;           /* in file order */
    size_t module_count, module_capacity; /* of those with rows on the device */
};

/* What a table says about its main device. */
bool run_tables_make(struct run_tables *tables, const struct memory_run *run,
                     const struct run_table *table, struct error *err);
void run_tables_release(struct run_tables *tables, const struct memory_run *run);

/* The row of the main device at the peak; NULL if the table has none. */
const struct run_table_row *run_table_peak(const struct memory_run *run,
                                           const struct run_table *table);

/* The table with the highest peak, of all ranks and calls; NULL if there are none. */
const struct run_table *run_table_highest(const struct memory_run *run);

#endif
