#include "decode/core/sniff.h"

#include <ctype.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"
#include "decode/core/formats.h"
#include "decode/core/others.h"
#include "decode/core/plain.h"
#include "decode/core/run_text.h"

#define HIGHEST_PROTOCOL 5
#define SNIFF_BYTES      ((size_t)512)
#define LOOK_BYTES       ((size_t)64 * 1024)

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

const char *sniff_description(const struct source *source)
{
    return describe_bytes(source->pos, source->end);
}

/* A snapshot in JSON is a dict, or a list of dicts; "[rank0]: ..." and "[2026-..." are not. */
bool sniff_is_log(const struct source *source)
{
    const uint8_t *begin = bytes_skip_space(source->pos, source->end);
    return begin < source->end && *begin != '{' && *begin != '<' &&
           bytes_are_text(begin, source->end) &&
           (*begin != '[' || (begin + 1 < source->end && isalnum(begin[1])));
}

bool sniff_encoding(struct source *source, enum encoding *encoding, struct error *err)
{
    const uint8_t *p, *end, *begin;

    if (!source_fill(source, SNIFF_BYTES, err))
        return false;
    while (bytes_skip_start(source->pos, source->end) == source->end && !source->at_eof &&
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
    begin = bytes_skip_start(p, end);
    if (begin < end && (*begin == '{' || *begin == '[')) {
        *encoding = ENCODING_JSON;
        return true;
    }
    if (end - p >= 3 && p[0] == 0x80 && p[1] > HIGHEST_PROTOCOL && may_follow(p[2]))
        return error_set(err, STATUS_BAD_INPUT, "unknown pickle protocol %u (0 to %d are known)",
                         p[1], HIGHEST_PROTOCOL);
    return error_set(err, STATUS_BAD_INPUT, "expected a pickle or JSON, not %s",
                     describe_bytes(p, end));
}

/* True if the string at `at` is a pickled string of any protocol, a class in protocol 0 to 3, or a
 * JSON key. */
static bool is_word(const uint8_t *begin, const uint8_t *at, const uint8_t *end, size_t size)
{
    const uint8_t *next = bytes_skip_space(at + size + 1 < end ? at + size + 1 : end, end);
    size_t before = (size_t)(at - begin);
    uint8_t last = before > 0 ? at[-1] : 0;

    if (at + size < end && at[size] == '"' && last == '"' && next < end && *next == ':')
        return true;
    if (before >= 2 && last == size && (at[-2] == 0x8c || at[-2] == 'U'))
        return true; /* SHORT_BINUNICODE, SHORT_BINSTRING */
    if (before >= 5 && at[-4] == size && at[-3] == 0 && at[-2] == 0 && last == 0)
        return at[-5] == 'X' || at[-5] == 'T'; /* BINUNICODE, BINSTRING */
    if (at + size < end && at[size] == '\n' && (last == 'V' || last == '\n'))
        return true;                                     /* UNICODE, GLOBAL */
    return before >= 2 && last == '\'' && at[-2] == 'S'; /* STRING */
}

/* Finds a text within [begin, end); NULL if it is not there. */
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

/* Lists of numbers within a list: [[times], [[sizes], ...]], or [[time, action, bytes, category],
 * ...]. Without any memory, the first is [[], []]. */
static bool is_timeline(const uint8_t *p, const uint8_t *end)
{
    p = bytes_skip_start(p, end);
    for (int i = 0; i < 2; i++) {
        if (p == end || *p != '[')
            return false;
        p = bytes_skip_space(p + 1, end);
    }
    return p < end && (*p == '-' || *p == ']' || ascii_is_digit(*p));
}

static bool is_log_with(const struct source *source, const char *word)
{
    struct text start = {(const char *)source->pos, (size_t)(source->end - source->pos)};
    return sniff_is_log(source) && text_find(start, word) != NULL;
}

/* The titles of torch.profiler's columns: "Name ... Self CPU %". */
static bool has_operators(const struct source *source)
{
    return is_log_with(source, " Name  ") &&
           (is_log_with(source, "  Self CPU %  ") || is_log_with(source, "  Self CPU total %  "));
}

enum file_kind sniff_kind(struct source *source)
{
    enum file_kind kind = KIND_UNKNOWN;
    struct error ignored;
    enum encoding encoding;

    source_look_ahead(source, LOOK_BYTES);
    if (is_log_with(source, SUMMARY_HEADING))
        return KIND_MEMORY_SUMMARY;
    if (has_operators(source))
        return KIND_OPERATORS;
    if (!sniff_encoding(source, &encoding, &ignored))
        return kind_of_run_text(source->pos, source->end);
    if (encoding == ENCODING_PROTOBUF)
        return KIND_PPROF;
    if (encoding == ENCODING_MSGPACK)
        return begins_summary(source->pos, source->end) ? KIND_SUMMARY : KIND_LAYER_TRACE;
    const uint8_t *begin = source->pos, *end = source->end, *limit = end;
    if (encoding == ENCODING_JSON && is_timeline(begin, end))
        return KIND_MEMORY_TIMELINE;
    const uint8_t *moment = find_run_moment(begin, end);
    if (moment) {
        limit = moment;
        kind = KIND_RUN_STATS;
    }
    for (int k = 0; k < FILE_KINDS; k++)
        for (const struct format_mark *mark = formats[k].marks; mark && mark->word; mark++) {
            const uint8_t *at = find_word(begin, limit, mark->word);
            if (at == NULL || (mark->with != NULL && find_word(begin, end, mark->with) == NULL))
                continue;
            limit = at;
            kind = (enum file_kind)k;
        }
    return kind;
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
