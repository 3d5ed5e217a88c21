#include "decode/core/sniff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define HIGHEST_PROTOCOL 5
#define SNIFF_BYTES      ((size_t)512)
#define TEXT_BYTES       ((size_t)1024) /* in which a text's own words begin; a log's may be later */
#define TEXT_LINES       200            /* in which a kind of text shows */
#define LOOK_BYTES       ((size_t)64 * 1024)

#define SUMMARY_HEADING "memory summary, device ID "

/* Other common file types, by their first bytes. */
static const struct magic {
    const char *bytes;
    size_t size;
    const char *name;
} magics[] = {
    {"PK\3\4", 4, "a zip archive (torch.save?)"},
    {"PK\5\6", 4, "an empty zip archive"},
    {"\x1f\x8b", 2, "gzip data within gzip data"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data (decompress it first)"},
    {"\xfd\x37zXZ\0", 6, "xz data (decompress it first)"},
    {"BZh", 3, "bzip2 data (decompress it first)"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive"},
    {"\x7f"
     "ELF",
     4, "an ELF program or library"},
    {"SQLite format 3", 15, "an SQLite database"},
    {"\x89PNG", 4, "a PNG picture"},
    {"\xff\xd8\xff", 3, "a JPEG picture"},
    {"%PDF", 4, "a PDF document"},
    {"\x93NUMPY", 6, "a NumPy array"},
    {"\x89HDF", 4, "an HDF5 file"},
};
#define MAGIC_COUNT (sizeof(magics) / sizeof(magics[0]))

/* The opcodes that may follow PROTO or the first opcode in a pickle of a container or an instance.
 */
static bool may_follow(uint8_t opcode)
{
    return opcode != 0 && (opcode == 0x95 || strchr("](})clN.KMJGXUV\x8c\x8e\x8f", opcode) != NULL);
}

static bool begins_pickle(const uint8_t *p, size_t size)
{
    if (size < 2)
        return false;
    if (p[0] == 0x80)
        return p[1] <= HIGHEST_PROTOCOL && (size == 2 || may_follow(p[2]));
    /* protocols 0 and 1 have no signature: check for the usual beginnings of a dict and a list */
    if (p[0] == '(')
        return p[1] == 'd' || p[1] == 'l';
    return (p[0] == '}' || p[0] == ']') && strchr("qrp(.", p[1]) != NULL && p[1] != 0;
}

/* Skips the header of a msgpack map or array of any size. Returns `p` if there is none. */
static const uint8_t *skip_msgpack_header(const uint8_t *p, const uint8_t *end, bool map)
{
    uint8_t fixed = map ? 0x80 : 0x90, wide = map ? 0xde : 0xdc;

    if (end - p > 1 && (*p & 0xf0) == fixed)
        return p + 1;
    if (end - p > 3 && *p == wide)
        return p + 3;
    if (end - p > 5 && *p == wide + 1)
        return p + 5;
    return p;
}

/* The beginning of a file of summaries (model/summary.h). */
static bool begins_summary(const uint8_t *p, const uint8_t *end)
{
    static const char start[] = "\x81\xa6schema\xb1memsnap.summary/";
    return (size_t)(end - p) >= sizeof(start) && memcmp(p, start, sizeof(start) - 1) == 0;
}

/* True for summaries, and for a map, or an array of maps, whose first key may begin a layer trace.
 */
static bool begins_msgpack(const uint8_t *p, const uint8_t *end)
{
    static const char *const keys[] = {"memsnap", "traces", "module_name"};
    const uint8_t *map = skip_msgpack_header(p, end, false);
    const uint8_t *key = skip_msgpack_header(map, end, true);

    if (key == map)
        return false;
    if (begins_summary(p, end))
        return true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t size = strlen(keys[i]);
        if ((size_t)(end - key) > size && *key == (0xa0 | size) &&
            memcmp(key + 1, keys[i], size) == 0)
            return true;
    }
    return false;
}

/* pprof's first field is the list of value types: a message of two indices into its texts. */
static bool begins_pprof(const uint8_t *p, const uint8_t *end)
{
    return end - p > 8 && p[0] == 0x0a && p[1] >= 2 && p[1] <= 6 &&
           (p[2] == 0x08 || p[2] == 0x10) && (p[p[1] + 2] == 0x0a || p[p[1] + 2] == 0x12) &&
           p[3] != '"';
}

static const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* The first byte after white space and an optional byte order mark; `end` if there is none. */
static const uint8_t *skip_start(const uint8_t *p, const uint8_t *end)
{
    if (end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    return skip_space(p, end);
}

static bool begins_with(const uint8_t *p, const uint8_t *end, const char *text)
{
    for (; *text != '\0'; p++, text++)
        if (p == end || tolower(*p) != *text)
            return false;
    return true;
}

static bool is_text(const uint8_t *p, const uint8_t *end)
{
    for (; p < end; p++)
        if (*p == 0x7f ||
            (*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r' && *p != '\f' && *p != 0x1b))
            return false;
    return true;
}

/* Texts and pages that a training run leaves, by words near their beginning, and what to record in
 * place of them. */
static const struct {
    const char *mark, *name;
} texts[] = {
    {"<title>GPU Memory Timeline HTML</title>",
     "a picture of torch.profiler's memory timeline: export_memory_timeline() writes what memsnap "
     "reads to a name that ends in .raw.json.gz"},
    {SUMMARY_HEADING, "a table of torch.cuda.memory_summary(), which 'memsnap analyze' reads"},
    {"Self CPU %", "a table of torch.profiler: export_chrome_trace() writes what memsnap reads"},
};

/* Describes bytes that are neither a pickle nor JSON. */
static const char *describe(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *begin = skip_start(p, end);

    for (size_t i = 0; i < MAGIC_COUNT; i++)
        if ((size_t)(end - p) >= magics[i].size && memcmp(p, magics[i].bytes, magics[i].size) == 0)
            return magics[i].name;
    if (end - p > 262 && memcmp(p + 257, "ustar", 5) == 0)
        return "a tar archive (unpack it first)";
    if (begin == end)
        return "white space only";
    struct text start =
        text_first((struct text){(const char *)begin, (size_t)(end - begin)}, TEXT_BYTES);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (text_find(start, texts[i].mark) != NULL)
            return texts[i].name;
    if (begins_with(begin, end, "<!doctype html") || begins_with(begin, end, "<html"))
        return "an HTML page";
    if (is_text(p, end))
        return "a text file";
    return "unknown binary data";
}

const char *sniff_description(const struct source *source)
{
    return describe(source->pos, source->end);
}

/* A snapshot in JSON is a dict, or a list of dicts; "[rank0]: ..." and "[2026-..." are not. */
bool sniff_is_log(const struct source *source)
{
    const uint8_t *begin = skip_space(source->pos, source->end);
    return begin < source->end && *begin != '{' && *begin != '<' && is_text(begin, source->end) &&
           (*begin != '[' || (begin + 1 < source->end && isalnum(begin[1])));
}

bool sniff_encoding(struct source *source, enum encoding *encoding, struct error *err)
{
    const uint8_t *p, *end, *begin;

    if (!source_fill(source, SNIFF_BYTES, err))
        return false;
    while (skip_start(source->pos, source->end) == source->end && !source->at_eof &&
           (size_t)(source->end - source->pos) < LOOK_BYTES)
        if (!source_fill(source, LOOK_BYTES, err))
            return false;
    p = source->pos;
    end = source->end;
    if (p == end)
        return error_set(err, STATUS_BAD_INPUT, "expected a pickle or JSON, not an empty file");
    if (begins_pickle(p, (size_t)(end - p))) {
        *encoding = ENCODING_PICKLE;
        return true;
    }
    if (begins_pprof(p, end)) {
        *encoding = ENCODING_PROTOBUF;
        return true;
    }
    if (begins_msgpack(p, end)) {
        *encoding = ENCODING_MSGPACK;
        return true;
    }
    begin = skip_start(p, end);
    if (begin < end && (*begin == '{' || *begin == '[')) {
        *encoding = ENCODING_JSON;
        return true;
    }
    if (end - p >= 3 && p[0] == 0x80 && p[1] > HIGHEST_PROTOCOL && may_follow(p[2]))
        return error_set(err, STATUS_BAD_INPUT, "unknown pickle protocol %u (0 to %d are known)",
                         p[1], HIGHEST_PROTOCOL);
    return error_set(err, STATUS_BAD_INPUT, "expected a pickle or JSON, not %s", describe(p, end));
}

/* Words that identify a kind of file, anywhere in its beginning. The first one in the file decides,
 * because later words may be names from the user's program. */
static const struct mark {
    enum file_kind kind;
    const char *word;
    const char *with; /* if not NULL, this word must be present, too */
} marks[] = {
    {KIND_SNAPSHOT, "segments", NULL},
    {KIND_SNAPSHOT, "device_traces", NULL},
    {KIND_SNAPSHOT, "total_size", "blocks"}, /* the bare list of segments of old versions */
    {KIND_LAYER_TRACE, "traces", NULL},
    {KIND_LAYER_TRACE, "module_name", "memory_activations"},
    {KIND_LAYER_TRACE, "LayerMemoryTrace", NULL},
    {KIND_OPERATOR_CURVES, "memories_allocated", NULL},
    {KIND_OPERATOR_CURVES, "memories_active", NULL},
    {KIND_OPERATOR_CURVES, "memories_reserved", NULL},
    {KIND_PROFILE, "traceEvents", NULL},
    {KIND_PROFILE, "schemaVersion", "deviceProperties"}, /* may be long */
    {KIND_PROFILE, "schemaVersion", "distributedInfo"},
    {KIND_PROFILE, "ph", "ts"}, /* the bare list of events of old versions */
    {KIND_FIT, "variable", "gpus"},
    {KIND_MEMORY_STATS, "active_bytes", "inactive_split_bytes"}, /* nested */
    {KIND_MEMORY_STATS, "active.all.allocated", NULL},
    {KIND_MEMORY_STATS, "active_bytes.all.allocated", NULL},
    {KIND_MEMORY_STATS, "active_bytes.all.current", NULL},
    {KIND_MEMORY_STATS, "active_bytes.all.peak", NULL},
    {KIND_MEMORY_STATS, "allocated_bytes.all.allocated", NULL},
    {KIND_MEMORY_STATS, "allocated_bytes.all.current", NULL},
};
#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))

/* True if the string at `at` is a pickled string of any protocol, a class in protocol 0 to 3, or a
 * JSON key. */
static bool is_word(const uint8_t *begin, const uint8_t *at, const uint8_t *end, size_t size)
{
    const uint8_t *behind = skip_space(at + size + 1 < end ? at + size + 1 : end, end);
    size_t before = (size_t)(at - begin);
    uint8_t last = before > 0 ? at[-1] : 0;

    if (at + size < end && at[size] == '"' && last == '"' && behind < end && *behind == ':')
        return true;
    if (before >= 2 && last == size && (at[-2] == 0x8c || at[-2] == 'U'))
        return true; /* SHORT_BINUNICODE, SHORT_BINSTRING */
    if (before >= 5 && at[-4] == size && at[-3] == 0 && at[-2] == 0 && last == 0)
        return at[-5] == 'X' || at[-5] == 'T'; /* BINUNICODE, BINSTRING */
    if (at + size < end && at[size] == '\n' && (last == 'V' || last == '\n'))
        return true;                                     /* UNICODE, GLOBAL */
    return before >= 2 && last == '\'' && at[-2] == 'S'; /* STRING */
}

/* NULL if not in [begin, end). */
static const uint8_t *find_word(const uint8_t *begin, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    const uint8_t *at = begin;

    while ((size_t)(end - at) > size &&
           (at = memchr(at, word[0], (size_t)(end - at) - size)) != NULL) {
        if (memcmp(at, word, size) == 0 && is_word(begin, at, end, size))
            return at;
        at++;
    }
    return NULL;
}

static bool is_name_byte(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '.';
}

/* The first "0.training_step.2.end" or the like in [begin, end): a moment of MemProfiler. NULL if
 * there is none. */
static const uint8_t *find_moment(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; (at = memchr(at, '.', (size_t)(end - at))) != NULL;) {
        const uint8_t *first = at, *last = at + 1;
        while (first > begin && isdigit(first[-1]))
            first--;
        while (last < end && is_name_byte(*last))
            last++;
        struct text rest = {(const char *)at, (size_t)(last - at)};
        size_t cut = text_ends(rest, ".start") ? 6 : text_ends(rest, ".end") ? 4 : 0;
        if (first < at && cut > 0 && rest.size > cut &&
            isdigit((uint8_t)rest.bytes[rest.size - cut - 1]))
            return first;
        at = last;
    }
    return NULL;
}

/* Lists of numbers within a list: [[times], [[sizes], ...]], or [[time, action, bytes, category],
 * ...]. Without any memory, the first is [[], []]. */
static bool is_timeline(const uint8_t *p, const uint8_t *end)
{
    p = skip_start(p, end);
    for (int i = 0; i < 2; i++) {
        if (p == end || *p != '[')
            return false;
        p = skip_space(p + 1, end);
    }
    return p < end && (*p == '-' || *p == ']' || isdigit(*p));
}

/* Words that FSDPMemTracker and MemTracker print. */
static const char *const table_words[] = {
    "Peak FSDP memory stats:",    "Modulewise FSDP memory stats:",
    "Device    Sharded Param ",   "Sharded Param: ",
    "_FSDPRefType.SHARDED_PARAM", "Device    Parameter  ",
    "Device    _MemRefType.",     "\tParameter: ",
};

/* Kinds of text files, by their first lines. */
static enum file_kind kind_of_text(const uint8_t *p, const uint8_t *end)
{
    struct text start = text_first((struct text){(const char *)p, (size_t)(end - p)}, TEXT_BYTES);
    if (!is_text(p, end))
        return KIND_UNKNOWN;
    for (size_t i = 0; i < sizeof(table_words) / sizeof(table_words[0]); i++)
        if (text_find(start, table_words[i]) != NULL)
            return KIND_RUN_TABLES;
    end = p + start.size;
    const uint8_t *moment = find_moment(p, end);
    const uint8_t *colon = moment ? memchr(moment, ':', (size_t)(end - moment)) : NULL;
    const uint8_t *feed = moment ? memchr(moment, '\n', (size_t)(end - moment)) : NULL;
    return colon && (!feed || colon < feed) ? KIND_RUN_STATS : KIND_UNKNOWN;
}

static bool has_summary(const struct source *source)
{
    struct text start = {(const char *)source->pos, (size_t)(source->end - source->pos)};
    return sniff_is_log(source) && text_find(start, SUMMARY_HEADING) != NULL;
}

enum file_kind sniff_kind(struct source *source)
{
    enum file_kind kind = KIND_UNKNOWN;
    struct error ignored;
    enum encoding encoding;

    source_look_ahead(source, LOOK_BYTES);
    if (has_summary(source))
        return KIND_MEMORY_SUMMARY;
    if (!sniff_encoding(source, &encoding, &ignored))
        return kind_of_text(source->pos, source->end);
    if (encoding == ENCODING_PROTOBUF)
        return KIND_PPROF;
    if (encoding == ENCODING_MSGPACK)
        return begins_summary(source->pos, source->end) ? KIND_SUMMARY : KIND_LAYER_TRACE;
    const uint8_t *begin = source->pos, *end = source->end, *limit = end;
    if (encoding == ENCODING_JSON && is_timeline(begin, end))
        return KIND_MEMORY_TIMELINE;
    const uint8_t *moment = find_moment(begin, end);
    if (moment) {
        limit = moment;
        kind = KIND_RUN_STATS;
    }
    for (size_t i = 0; i < MARK_COUNT; i++) {
        const uint8_t *at = find_word(begin, limit, marks[i].word);
        if (at == NULL || (marks[i].with != NULL && find_word(begin, end, marks[i].with) == NULL))
            continue;
        limit = at;
        kind = marks[i].kind;
    }
    return kind;
}

const char *kind_name(enum file_kind kind)
{
    static const char *const names[] = {
        [KIND_UNKNOWN] = "something else",
        [KIND_SNAPSHOT] = "an allocator snapshot",
        [KIND_LAYER_TRACE] = "a layer trace",
        [KIND_OPERATOR_CURVES] = "memory curves of MemoryTracker",
        [KIND_PROFILE] = "a profiler trace",
        [KIND_RUN_STATS] = "the statistics of a run of MemProfiler",
        [KIND_RUN_TABLES] = "tables of FSDP memory",
        [KIND_FIT] = "results of memsnap dryrun --fit",
        [KIND_SUMMARY] = "summaries of captures",
        [KIND_MEMORY_TIMELINE] = "a memory timeline of torch.profiler",
        [KIND_PPROF] = "a memory profile in pprof's format",
        [KIND_MEMORY_STATS] = "the statistics of torch.cuda.memory_stats()",
        [KIND_MEMORY_SUMMARY] = "a log with tables of torch.cuda.memory_summary()",
    };
    return names[kind];
}

const char *kind_advice(enum file_kind kind)
{
    if (kind == KIND_MEMORY_STATS || kind == KIND_MEMORY_SUMMARY)
        return ": torch.cuda.memory._dump_snapshot() shows what the memory is used for";
    if (kind == KIND_SUMMARY)
        return "; see 'memsnap ranks'";
    return "";
}

const char *encoding_name(enum encoding encoding)
{
    static const char *const names[] = {
        [ENCODING_UNKNOWN] = "unknown",   [ENCODING_PICKLE] = "pickle",   [ENCODING_JSON] = "json",
        [ENCODING_PROTOBUF] = "protobuf", [ENCODING_MSGPACK] = "msgpack", [ENCODING_YAML] = "yaml",
        [ENCODING_TEXT] = "text",
    };
    return names[encoding];
}
