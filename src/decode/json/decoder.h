/* Declarations shared by the parts of the JSON snapshot decoder. Internal to decode/json.
 *
 * The keys of an object may come in any order, and the last of equal keys counts. null stands for
 * an absent value. */
#ifndef MEMSNAP_DECODE_JSON_DECODER_H
#define MEMSNAP_DECODE_JSON_DECODER_H

#include "decode/core/snapshot_fields.h"
#include "decode/json/frames.h"
#include "decode/json/reader.h"

/* A recently read string, which need not be looked up again. */
struct json_recent_string {
    string_id id;
    struct text text; /* in the symbols; bytes NULL: none yet */
};

#define JSON_RECENT_STRINGS 16

struct json_decoder {
    struct json_reader reader;
    struct symbols *symbols;
    struct budget *budget;
    const struct row_sink *sink;
    struct json_frames frames;
    struct buffer text; /* of the value being read into a FIELD_ANY_TEXT */
    struct json_recent_string recent[JSON_RECENT_STRINGS];
    struct block_row *blocks; /* of the segment being read */
    uint8_t *has_address;     /* for each block, true if the file has its address */
    size_t block_count, block_capacity, has_address_capacity;
    uint8_t *told; /* by string id: a bit per enum row_kind for which it was reported as an unknown
                      key */
    size_t told_count, told_capacity;
};

/* values.c: reads one value into a field that is not FIELD_OTHER. */
bool json_store(struct json_decoder *decoder, const struct field *field, void *row,
                struct error *err);
/* The id of a string in the file. Fast for the few strings that occur again and again. */
bool json_intern(struct json_decoder *decoder, struct text text, string_id *id, struct error *err);
/* Reports the key to the sink once, unless the sink takes no unknown keys of such rows, and skips
 * its value. */
bool json_unknown(struct json_decoder *decoder, enum row_kind kind, struct text key,
                  struct error *err);

/* rows.c: the lists of a snapshot, handed to the sink row by row. */
bool json_decode_trace(struct json_decoder *decoder, uint32_t device, struct error *err);
bool json_decode_segments(struct json_decoder *decoder, bool of_host, struct error *err);
bool json_decode_annotations(struct json_decoder *decoder, struct error *err);
bool json_decode_settings(struct json_decoder *decoder, struct error *err);

/* Reads a value of any kind, and replaces the contents of `out` by what Python's str() prints for
 * it. STATUS_LIMIT beyond `limit` bytes. */
bool json_python_text(struct json_reader *reader, size_t limit, struct buffer *out,
                      struct error *err);
/* The same, but a longer text is cut by the limits of pytext.h, with "..." at its end. */
bool json_python_clip(struct json_reader *reader, struct buffer *out, struct error *err);

#endif
