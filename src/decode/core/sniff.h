/* Detects the format of the decoded bytes by content alone. */
#ifndef MEMSNAP_DECODE_CORE_SNIFF_H
#define MEMSNAP_DECODE_CORE_SNIFF_H

#include "decode/core/source.h"

enum encoding {
    ENCODING_UNKNOWN,
    ENCODING_PICKLE,
    ENCODING_JSON,
    ENCODING_MSGPACK,
    ENCODING_PROTOBUF,
    /* sniff_encoding() never finds these */
    ENCODING_YAML,
    ENCODING_TEXT,
};

/* The kind of data in a file, in any encoding. */
enum file_kind {
    KIND_UNKNOWN,
    KIND_SNAPSHOT,        /* of the allocator */
    KIND_LAYER_TRACE,     /* FairScale's LayerwiseMemoryTracker */
    KIND_OPERATOR_CURVES, /* torch.distributed._tools.MemoryTracker */
    KIND_PROFILE,         /* a Chrome trace of torch.profiler */
    KIND_RUN_STATS,       /* rank_N_memory_stats of MemProfiler */
    KIND_RUN_TABLES,      /* printed by FSDPMemTracker or MemTracker */
    KIND_MEMORY_TIMELINE, /* torch.profiler's export_memory_timeline() */
    KIND_PPROF,           /* live memory of JAX, or of another program with pprof's format */
    KIND_MEMORY_STATS,    /* torch.cuda.memory_stats() */
    KIND_MEMORY_SUMMARY,  /* tables of torch.cuda.memory_summary(), in a log */
    KIND_OPERATORS,       /* tables of torch.profiler: key_averages().table() */
    KIND_FIT,             /* results of memsnap dryrun --fit */
    KIND_SHARD,           /* predictions of memsnap shard, for memsnap plot only */
    KIND_TREND,           /* a trend of memsnap trend --format json, for memsnap plot only */
    KIND_SUMMARY,         /* summaries of captures, for memsnap ranks only */
    KIND_EXECUTION_TRACE, /* of torch.profiler's ExecutionTraceObserver; read by no command */
    FILE_KINDS
};

/* True if decode_snapshot() reads the kind. */
static inline bool kind_is_snapshot(enum file_kind kind)
{
    return kind == KIND_SNAPSHOT || kind == KIND_PROFILE || kind == KIND_MEMORY_TIMELINE ||
           kind == KIND_PPROF;
}

/* True for the kinds of snapshot that can tell which code allocated. */
static inline bool kind_has_stacks(enum file_kind kind)
{
    return kind == KIND_SNAPSHOT || kind == KIND_PROFILE;
}

/* True if memsnap analyze reads the kind. */
static inline bool kind_is_analyzed(enum file_kind kind)
{
    return kind != KIND_UNKNOWN && kind <= KIND_FIT;
}

/* Looks ahead without consuming anything. If the format is unknown, fails with STATUS_BAD_INPUT and
 * one line that describes the bytes (empty file, text, zip archive, HTML, ...). ENCODING_MSGPACK is
 * only recognised by the keys of a layer trace or a summary, since any bytes may be msgpack. */
bool sniff_encoding(struct source *source, enum encoding *encoding, struct error *err);

/* Describes the unread bytes in the source's buffer, which are neither a pickle nor JSON: "a zip
 * archive (torch.save?)", "a text file", "unknown binary data". */
const char *sniff_description(const struct source *source);

/* True if the bytes in the source's buffer may be a log: text that is neither JSON nor HTML. */
bool sniff_is_log(const struct source *source);

/* The kind of the file, by the first keys and classes, without consuming anything. Never fails:
 * KIND_UNKNOWN if unsure. */
enum file_kind sniff_kind(struct source *source);

/* "pickle", "json", "msgpack", "yaml", "text", as in JSON reports. */
const char *encoding_name(enum encoding encoding);
/* "an allocator snapshot", for error texts. */
const char *kind_name(enum file_kind kind);
/* The encodings in which it is read, for people: "JSON, pickle"; "" if no command reads it. */
const char *kind_encodings(enum file_kind kind);
/* What to record instead of a kind that is not read, beginning with ": "; "" for others. */
const char *kind_advice(enum file_kind kind);

#endif
