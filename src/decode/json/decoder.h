/* What the parts of the JSON snapshot decoder share. Internal to decode/json.
 *
 * Every object's function reads its keys in any order, the last of equal keys
 * counting, and checks at its end that nothing needed is missing. null stands
 * for an absent value. */
#ifndef MEMSNAP_DECODE_JSON_DECODER_H
#define MEMSNAP_DECODE_JSON_DECODER_H

#include "decode/core/rows.h"
#include "decode/json/frames.h"
#include "decode/json/reader.h"

/* A string met again and again: looked up only when it changes. */
struct json_last_string {
    string_id id;
    struct text text; /* in the symbols; bytes NULL: none yet */
};

struct json_decoder {
    struct json_reader reader;
    struct symbols *symbols;
    struct budget *budget;
    const struct row_sink *sink;
    struct json_frames frames;
    string_id action_names[ACTION_OTHER];
    struct json_last_string compile_context, user_metadata, category;
    struct block_row *blocks; /* of the segment being read */
    uint8_t *has_address;     /* for each of them, whether the file has its address */
    size_t block_count, block_capacity, has_address_capacity;
    uint8_t *told; /* by string id: a bit per enum json_place where it was told as an unknown key */
    size_t told_count, told_capacity;
};

enum json_place {
    JSON_IN_SNAPSHOT,
    JSON_IN_SEGMENT,
    JSON_IN_BLOCK,
    JSON_IN_EVENT,
    JSON_IN_ANNOTATION,
};

#define JSON_NAME(literal)                                                                         \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* The index of a text in a table of names; `count` when it is none of them. */
static inline unsigned json_name_index(const struct text *names, unsigned count, struct text text)
{
    for (unsigned i = 0; i < count; i++)
        if (names[i].size == text.size &&
            __builtin_memcmp(names[i].bytes, text.bytes, text.size) == 0)
            return i;
    return count;
}

/* Tells the sink once about the key, and skips its value. */
bool json_unknown(struct json_decoder *decoder, enum json_place place, struct text key,
                  struct error *err);
/* "a block without 'size'", at the offset where the object begins; always false. */
bool json_missing(uint64_t start, const char *object, const char *key, struct error *err);

/* Single values; `what` describes the one expected. */
bool json_value_u64(struct json_decoder *decoder, const char *what, uint64_t *value,
                    struct error *err);
bool json_value_i64(struct json_decoder *decoder, const char *what, int64_t *value,
                    struct error *err);
/* A handle: any 64 bits, with a sign or without. */
bool json_value_bits(struct json_decoder *decoder, const char *what, int64_t *value,
                     struct error *err);
bool json_value_device(struct json_decoder *decoder, uint32_t *value, struct error *err);
/* A text or a truth value that nothing depends on: where another value stands it is empty, or
 * false. */
bool json_value_bool(struct json_decoder *decoder, bool *value, struct error *err);
bool json_value_text(struct json_decoder *decoder, string_id *value, struct error *err);
/* Two integers in an array. */
bool json_value_pool(struct json_decoder *decoder, uint64_t pool[2], struct error *err);

/* The objects and lists of a snapshot; each takes the whole value, if necessary to the sink. */
bool json_decode_trace(struct json_decoder *decoder, uint32_t device, struct error *err);
bool json_decode_segments(struct json_decoder *decoder, struct error *err);
bool json_decode_block(struct json_decoder *decoder, struct block_row *row, bool *has_address,
                       struct error *err);
bool json_decode_annotations(struct json_decoder *decoder, struct error *err);
bool json_decode_settings(struct json_decoder *decoder, struct error *err);

/* Replaces `out` by a value of any kind as Python's str() prints it; STATUS_LIMIT beyond `limit`
 * bytes. */
bool json_python_text(struct json_reader *reader, size_t limit, struct buffer *out,
                      struct error *err);

#endif
