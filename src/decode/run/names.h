/* The names that MemProfiler gives its files. */
#ifndef MEMSNAP_DECODE_RUN_NAMES_H
#define MEMSNAP_DECODE_RUN_NAMES_H

#include <stdint.h>

#include "base/text.h"

enum run_file_kind {
    RUN_FILE_OTHER,
    RUN_FILE_STATS,    /* rank_0_memory_stats.yaml, .pickle */
    RUN_FILE_TABLES,   /* fsdp_mem_rank_0_training_step_2.log */
    RUN_FILE_TRACE,    /* of torch.profiler: host.123.pt.trace.json, trace_0.json */
    RUN_FILE_TEXT,     /* any .txt: what torch.profiler printed, among others */
    RUN_FILE_SNAPSHOT, /* cuda_alloc_rank_0.training_step.2.end.pickle */
};

/* The kind by the name alone, which may end in .gz, too. `*middle` is the part that differs: "0",
 * "0_training_step_2", "0.training_step.2.end". */
enum run_file_kind run_file_kind(const char *path, struct text *middle);

/* Finds the rank in the name of a file of tables. False if there is none. */
bool run_tables_rank(const char *path, uint32_t *rank);

#endif
