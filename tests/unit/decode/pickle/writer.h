/* Writes pickles of snapshots that vary at random: in how they memoize, and in how they encode
 * events. */
#ifndef MEMSNAP_UNIT_DECODE_PICKLE_WRITER_H
#define MEMSNAP_UNIT_DECODE_PICKLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum memo_style { MEMO_NONE, MEMO_NEXT, MEMO_PUT, MEMO_PUT_LATE };

#define WRITER_TEXTS 24

struct writer {
    struct buffer out;
    enum memo_style style;
    uint32_t memo;   /* number of entries in the memo */
    uint64_t random; /* state of xorshift */
    const char *texts[WRITER_TEXTS];
    uint32_t text_memo[WRITER_TEXTS]; /* the memo entry of each text, or UINT32_MAX */
    size_t text_count;
    uint32_t stacks[4], stack_count; /* lists of frames in the memo */
    uint32_t frames[4], frame_count; /* frames in the memo */
    bool odd;                        /* the present event is written in unusual ways */
};

/* A random number below `sides`. */
uint32_t writer_roll(struct writer *w, uint32_t sides);

void writer_put(struct writer *w, const void *bytes, size_t size);
void writer_put_byte(struct writer *w, int byte);
/* Writes a number as `width` bytes, little-endian. */
void writer_put_number(struct writer *w, uint64_t number, size_t width);

/* Memoizes the value on the stack. Returns its index in the memo, or UINT32_MAX with MEMO_NONE. */
uint32_t writer_memoize(struct writer *w);
/* Pushes an entry of the memo. */
void writer_get(struct writer *w, uint32_t index);

/* Push a value. */
void writer_text(struct writer *w, const char *string);
void writer_integer(struct writer *w, uint64_t number);

/* Writes field `which` of 9 of an event: key and value. */
void writer_field(struct writer *w, unsigned which, uint64_t event);
/* Writes an event. Returns its index in the memo, or UINT32_MAX. */
uint32_t writer_event(struct writer *w, uint64_t number);

/* Overwrites the memo entry of one text with another text, which later references then get. */
void writer_overwrite(struct writer *w, const char *old, const char *new);

#endif
