/* Writes a pickle of protocol 4 in frames, as CPython's pickler does: in batches of a thousand
 * items, with repeated values as references to the memo.
 *
 * Opcodes: CPython, Lib/pickletools.py; frames: PEP 3154. */
#ifndef MEMSNAP_RENDER_EXPORT_PICKLER_H
#define MEMSNAP_RENDER_EXPORT_PICKLER_H

#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/symbols.h"

/* Constant keys and values, each written in full only once. */
enum pickler_word {
    WORD_ACTION,
    WORD_ACTIVE_ALLOCATED,
    WORD_ACTIVE_PENDING_FREE,
    WORD_ACTIVE_SIZE,
    WORD_ADDR,
    WORD_ADDRESS,
    WORD_ALLOCATED_SIZE,
    WORD_ALLOCATOR_SETTINGS,
    WORD_BLOCKS,
    WORD_CATEGORY,
    WORD_COMPILE_CONTEXT,
    WORD_DEVICE,
    WORD_DEVICE_FREE,
    WORD_DEVICE_TRACES,
    WORD_END,
    WORD_EXTERNAL_ANNOTATIONS,
    WORD_FILENAME,
    WORD_FORWARD_FRAMES,
    WORD_FRAMES,
    WORD_FX_NODE_NAME,
    WORD_FX_NODE_OP,
    WORD_FX_NODE_TARGET,
    WORD_FX_ORIGINAL_TRACE,
    WORD_HOST_SEGMENTS,
    WORD_HOST_TRACES,
    WORD_INACTIVE,
    WORD_INTERNAL_METADATA,
    WORD_IS_EXPANDABLE,
    WORD_LINE,
    WORD_NAME,
    WORD_POOL_ID,
    WORD_REQUESTED_SIZE,
    WORD_SEGMENT_POOL_ID,
    WORD_SEGMENT_TYPE,
    WORD_SEGMENTS,
    WORD_SIZE,
    WORD_STAGE,
    WORD_START,
    WORD_STATE,
    WORD_STREAM,
    WORD_TIME_US,
    WORD_TOTAL_SIZE,
    WORD_USER_METADATA,
    WORD_COUNT,
};

/* Memo indices plus 1 by dense id; 0: not in the memo yet. */
struct pickler_memo {
    uint32_t *items;
    size_t capacity;
};

struct pickler {
    FILE *out;
    const struct symbols *symbols; /* not owned */
    struct budget *budget;         /* not owned */
    char *frame;                   /* the contents of the current frame */
    size_t used;
    int write_errno; /* not 0: `out` failed */
    bool no_memory;
    uint32_t memoized; /* objects in the memo */
    uint32_t words[WORD_COUNT];
    struct pickler_memo strings, frames, stacks;
    struct buffer scratch;
};

bool pickler_begin(struct pickler *pickle, FILE *out, const struct symbols *symbols,
                   struct budget *budget, struct error *err);
/* Writes the end of the pickle. The pickler must still be released afterwards. */
bool pickler_end(struct pickler *pickle, struct error *err);
void pickler_release(struct pickler *pickle);
/* False if nothing more can be written. */
bool pickler_is_well(const struct pickler *pickle, struct error *err);

/* A dict: after the begin call, write a key, then its value, and so on. */
void pickler_dict_begin(struct pickler *pickle);
void pickler_dict_end(struct pickler *pickle);
/* A list: call pickler_item() before each item. */
struct pickler_list {
    size_t pending;
};
void pickler_list_begin(struct pickler *pickle, struct pickler_list *list);
void pickler_item(struct pickler *pickle, struct pickler_list *list);
void pickler_list_end(struct pickler *pickle, struct pickler_list *list);

void pickler_word(struct pickler *pickle, enum pickler_word word);
void pickler_count(struct pickler *pickle, uint64_t value);
void pickler_integer(struct pickler *pickle, int64_t value);
void pickler_real(struct pickler *pickle, double value);
void pickler_flag(struct pickler *pickle, bool value);
void pickler_none(struct pickler *pickle);
void pickler_pair(struct pickler *pickle, const uint64_t pair[2]); /* a tuple */
/* Text that is not memoized. Invalid UTF-8 becomes U+FFFD. */
void pickler_text(struct pickler *pickle, struct text text);
bool pickler_string(struct pickler *pickle, string_id id, struct error *err);
/* A list of frames, in the form that it had in the file. */
bool pickler_stack(struct pickler *pickle, stack_id id, struct error *err);

#endif
