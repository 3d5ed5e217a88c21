/* The table of the kinds of files. */
#include "decode/core/formats.h"

#include <stddef.h>

#define DUMP_ADVICE ": torch.cuda.memory._dump_snapshot() shows what the memory is used for"

#define EXECUTION_ADVICE                                                                           \
    ", which has no memory: export_chrome_trace() of profile(profile_memory=True) has it"
#define OPERATORS_ADVICE ": export_chrome_trace() writes when memory was in use"

static const struct format_mark snapshot_marks[] = {
    {"segments", NULL},
    {"device_traces", NULL},
    {"total_size", "blocks"}, /* the bare list of segments of old versions */
    {NULL, NULL},
};

static const struct format_mark layer_trace_marks[] = {
    {"traces", NULL},
    {"module_name", "memory_activations"},
    {"LayerMemoryTrace", NULL},
    {NULL, NULL},
};

static const struct format_mark operator_curves_marks[] = {
    {"memories_allocated", NULL},
    {"memories_active", NULL},
    {"memories_reserved", NULL},
    {NULL, NULL},
};

static const struct format_mark profile_marks[] = {
    {"traceEvents", NULL},
    {"schemaVersion", "deviceProperties"}, /* may be long */
    {"schemaVersion", "distributedInfo"},
    {"ph", "ts"}, /* the bare list of events of old versions */
    {NULL, NULL},
};

static const struct format_mark fit_marks[] = {
    {"variable", "gpus"},
    {NULL, NULL},
};

static const struct format_mark execution_trace_marks[] = {
    {"nodes", "ctrl_deps"},
    {"nodes", "rf_id"}, /* old versions */
    {NULL, NULL},
};

static const struct format_mark shard_marks[] = {
    {"sweep", "largest_batch"},
    {"strategies", "checkpointed"},
    {NULL, NULL},
};

static const struct format_mark trend_marks[] = {
    {"metric", "runs"},
    {NULL, NULL},
};

static const struct format_mark memory_stats_marks[] = {
    {"active_bytes", "inactive_split_bytes"}, /* nested */
    {"active.all.allocated", NULL},
    {"active_bytes.all.allocated", NULL},
    {"active_bytes.all.current", NULL},
    {"active_bytes.all.peak", NULL},
    {"allocated_bytes.all.allocated", NULL},
    {"allocated_bytes.all.current", NULL},
    {NULL, NULL},
};

const struct format formats[FILE_KINDS] = {
    [KIND_UNKNOWN] = {"something else", "", NULL, NULL},
    [KIND_SNAPSHOT] = {"an allocator snapshot", "pickle (protocols 0 to 5), JSON", NULL,
                       snapshot_marks},
    [KIND_LAYER_TRACE] = {"a layer trace", "JSON, pickle, msgpack", NULL, layer_trace_marks},
    [KIND_OPERATOR_CURVES] = {"memory curves of MemoryTracker", "pickle", NULL,
                              operator_curves_marks},
    [KIND_PROFILE] = {"a profiler trace", "JSON", NULL, profile_marks},
    [KIND_RUN_STATS] = {"the statistics of a run of MemProfiler", "YAML, pickle", NULL, NULL},
    [KIND_RUN_TABLES] = {"tables of FSDP memory", "text", NULL, NULL},
    [KIND_OPERATORS] = {"a table of torch.profiler's operators", "text", OPERATORS_ADVICE, NULL},
    [KIND_FIT] = {"results of memsnap dryrun --fit", "JSON", NULL, fit_marks},
    [KIND_SHARD] = {"predictions of memsnap shard", "JSON", "; see 'memsnap plot --kind shard'",
                    shard_marks},
    [KIND_TREND] = {"a trend of memsnap trend", "JSON", "; see 'memsnap plot --kind trend'",
                    trend_marks},
    [KIND_EXECUTION_TRACE] = {"an execution trace of torch.profiler", "", EXECUTION_ADVICE,
                              execution_trace_marks},
    [KIND_SUMMARY] = {"summaries of captures", "msgpack", "; see 'memsnap ranks'", NULL},
    [KIND_MEMORY_TIMELINE] = {"a memory timeline of torch.profiler", "JSON", NULL, NULL},
    [KIND_PPROF] = {"a memory profile in pprof's format", "protobuf", NULL, NULL},
    [KIND_MEMORY_STATS] = {"the statistics of torch.cuda.memory_stats()", "JSON, pickle",
                           DUMP_ADVICE, memory_stats_marks},
    [KIND_MEMORY_SUMMARY] = {"a log with tables of torch.cuda.memory_summary()", "text",
                             DUMP_ADVICE, NULL},
};

const char *kind_name(enum file_kind kind)
{
    return formats[kind].name;
}

const char *kind_encodings(enum file_kind kind)
{
    return formats[kind].encodings;
}

const char *kind_advice(enum file_kind kind)
{
    return formats[kind].advice ? formats[kind].advice : "";
}
