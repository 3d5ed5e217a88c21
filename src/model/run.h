/* What a run of MemProfiler (Finetuning-Scheduler) left in its folder: the statistics at the start
 * and the end of each watched call, the tables of FSDP memory, and what the snapshots beside them
 * say. Immutable once everything was added. */
#ifndef MEMSNAP_MODEL_RUN_H
#define MEMSNAP_MODEL_RUN_H

#include "decode/core/input.h"
#include "decode/core/sniff.h"
#include "decode/run/rows.h"
#include "model/operator_tables.h"
#include "model/timeline.h"

#define RUN_ABSENT INT64_MIN /* the file has no such statistic */

/* A file that was added. */
struct run_file {
    string_id path;
    enum encoding encoding;
    enum compression compression;
    uint64_t bytes; /* as stored */
};

/* A statistic by its name in the file, in its unit: bytes, or a number of things. */
struct run_stat {
    string_id name;
    int64_t number;
};

/* The statistics of one moment, in one file. */
struct run_point {
    struct run_key key;
    uint32_t file;
    size_t first, count; /* in `stats` */
};

/* A device of a snapshot that belongs to a moment. */
struct run_snapshot {
    struct run_key key;
    uint32_t file;
    uint32_t device;
    uint64_t events;
    bool knows_peak;
    int64_t active_peak_bytes, allocated_peak_bytes, reserved_peak_bytes; /* of the trace */
    struct memory_state state;                                            /* at the dump */
    uint64_t ooms;                                                        /* out-of-memory events */
    uint64_t refused_bytes;  /* the largest request among them */
    int64_t refused_time_us; /* when that was; TIME_NONE: the file has no times */
};

/* A device of a profiler trace, which may cover any part of the run. */
struct run_trace {
    uint32_t rank;
    uint32_t file;
    uint32_t device;
    uint64_t events;
    int64_t active_peak_bytes;
    int64_t reserved_peak_bytes; /* RUN_ABSENT if the trace does not record reserved memory */
};

/* The tables of one iteration in one file. */
struct run_table {
    struct run_key key; /* the side is RUN_END; without a heading function is STRING_EMPTY */
    uint32_t file;
    size_t first, count; /* in `rows`: the peak of each device, then module by module */
};

struct memory_run {
    struct run_file *files;
    size_t file_count, file_capacity;
    struct run_point *points; /* by rank, function in order of appearance, iteration, side, file */
    size_t point_count, point_capacity;
    struct run_stat *stats;
    size_t stat_count, stat_capacity;
    struct run_snapshot *snapshots; /* in the order of points, then by device */
    size_t snapshot_count, snapshot_capacity;
    struct run_trace *traces; /* by rank, device, file */
    size_t trace_count, trace_capacity;
    struct operator_tables operators; /* by file; as torch.profiler printed them */
    struct run_table *tables;         /* in the order of points */
    size_t table_count, table_capacity;
    struct run_table_row *rows; /* in file order */
    size_t row_count, row_capacity;
    struct symbols *symbols;
    struct budget *budget; /* owned */
};

/* An empty run; NULL if memory runs out. `max_memory` in bytes; 0: the default. */
struct memory_run *memory_run_create(size_t max_memory, struct error *err);
void memory_run_destroy(struct memory_run *run); /* NULL is allowed */

/* Each of the functions with an `input` reads an input that has not been read yet, closes it and
 * frees its budget, also on failure. A failure leaves the run as it was. */
bool memory_run_add_stats(struct memory_run *run, const char *path, struct input *input,
                          struct error *err);
/* Tables of FSDP memory. They do not tell the rank, so the caller does. STATUS_BAD_INPUT if there
 * is none. */
bool memory_run_add_tables(struct memory_run *run, const char *path, uint32_t rank,
                           struct input *input, struct error *err);
/* Adds a device of a snapshot. `file` is the number that memory_run_add_file() gave to its file. */
bool memory_run_add_snapshot(struct memory_run *run, const struct run_key *key, uint32_t file,
                             const struct timeline *timeline, struct error *err);
/* Adds a device of a profiler trace. `has_reserved`: the trace records reserved memory. */
bool memory_run_add_trace(struct memory_run *run, uint32_t rank, uint32_t file,
                          const struct timeline *timeline, bool has_reserved, struct error *err);
/* Tables that torch.profiler printed. */
bool memory_run_add_operators(struct memory_run *run, const char *path, struct input *input,
                              struct error *err);
/* Adds a file, whose path is copied, and sets `*file` to its index in `files`. facts->path is
 * ignored. */
bool memory_run_add_file(struct memory_run *run, const char *path, const struct run_file *facts,
                         uint32_t *file, struct error *err);
/* Sorts all arrays into the orders given above, once everything was added. */
void memory_run_finish(struct memory_run *run);

/* The order of moments: by rank, function in order of appearance, iteration, side. */
int run_key_compare(const struct run_key *a, const struct run_key *b);

/* The statistic of that name, or RUN_ABSENT; the last of equal names counts. */
int64_t run_point_number(const struct memory_run *run, const struct run_point *point,
                         const char *name);

#endif
