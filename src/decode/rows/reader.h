/* Converts inert values, read from any format, to the rows of a snapshot.
 *
 * A decoder that has a whole value passes it to rows_segment() and similar functions. The pickle
 * machine also reads the usual events and frames directly from the bytes, with the same vocabulary.
 * Values that became a frame, a stack or an event are marked, so that further references to them
 * cost nothing. Functions return false with rows->err filled. */
#ifndef MEMSNAP_DECODE_ROWS_READER_H
#define MEMSNAP_DECODE_ROWS_READER_H

#include "base/buffer.h"
#include "base/traceback.h"
#include "decode/core/snapshot_fields.h"
#include "decode/core/value.h"

/* The meaning of strings in a snapshot, by string id. */
struct row_words {
    uint8_t (*field)[8]; /* for each string and enum row_kind: the field with that name; NO_FIELD */
    uint8_t *action;     /* enum action */
    uint8_t *told; /* a bit per enum row_kind for which this unknown key was reported; grows */
    size_t size;   /* size of field and action: greater ids have no meaning */
    size_t told_size;
    size_t field_capacity, action_capacity, told_capacity;
};

#define NO_FIELD UINT8_MAX

struct row_reader {
    struct values *values;
    const struct row_sink *sink;
    struct budget *budget;
    struct error *err;
    uint64_t offset;      /* of the value being read, for errors */
    uint64_t event_count; /* events handed to the sink */
    struct row_words words;
    struct block_row *blocks; /* of the segment being read */
    size_t block_capacity;
    frame_id *frames; /* of the stack being read */
    size_t frame_capacity;
    struct traceback_frames lines; /* frames that were read from strings */
    struct buffer text;            /* of the value being read into a FIELD_ANY_TEXT */
};

/* words.c: fills the vocabulary; the members above it must be set. */
bool rows_begin(struct row_reader *rows);
void rows_release(struct row_reader *rows);

/* The field with this key in a dict of that kind; NO_FIELD if there is none. */
static inline unsigned rows_field(const struct row_reader *rows, enum row_kind kind, value key)
{
    uint32_t id = value_payload(key);
    return value_tag(key) == TAG_STRING && id < rows->words.size ? rows->words.field[id][kind]
                                                                 : NO_FIELD;
}

static inline void rows_event_action(const struct row_reader *rows, struct event_draft *event,
                                     string_id name)
{
    event->row.action_name = name;
    event->row.action =
        name < rows->words.size ? (enum action)rows->words.action[name] : ACTION_OTHER;
    event->seen |= EVENT_SEEN(EVENT_ACTION);
}

/* True if the key was reported to the sink before. */
bool rows_knows_unknown_key(const struct row_reader *rows, enum row_kind kind, value key);
/* Reports a key unknown to memsnap to the sink, once. */
bool rows_unknown_key(struct row_reader *rows, enum row_kind kind, value key);

bool rows_fail(struct row_reader *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports "expected EXPECTED, found ...". Returns false. */
bool rows_expected(struct row_reader *rows, const char *expected, value found);

/* values.c: single values. */
bool rows_frame(struct row_reader *rows, value v, frame_id *id);
/* Stores a value other than None in a field that is not FIELD_OTHER. */
bool rows_store(struct row_reader *rows, const struct field *field, void *row, value v);

/* python_text.c: appends a value as Python's str() prints it, but tuples as lists, so that JSON and
 * pickle give the same text. Containers nested deeper than `levels` show "..." for their items, as
 * does each container once the text is longer than `limit` bytes. Strings within containers are cut
 * after `limit` bytes. out->failed is set if memory runs out. */
void rows_python_text(const struct values *values, value v, unsigned levels, size_t limit,
                      struct buffer *out);

/* dicts.c: these hand each row to the sink. */
bool rows_segment(struct row_reader *rows, value v, bool of_host);
bool rows_annotation(struct row_reader *rows, value v);
bool rows_settings(struct row_reader *rows, value v);
/* Hands out an event that is still a value, or was handed out before; `*v` becomes its replacement.
 */
bool rows_event(struct row_reader *rows, uint32_t device, value *v);
/* Stores one field of an event, with any value. */
bool rows_event_field(struct row_reader *rows, struct event_draft *event, unsigned field, value v);
/* Hands a draft to the sink; `*v` becomes the value that represents the event. */
bool rows_event_end(struct row_reader *rows, struct event_draft *event, uint32_t device, value *v);

#endif
