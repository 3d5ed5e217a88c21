/* A dump being written. */
#ifndef MEMSNAP_RENDER_DUMP_INTERNAL_H
#define MEMSNAP_RENDER_DUMP_INTERNAL_H

#include "render/core/json.h"
#include "render/dump/refs.h"

/* The JSON form of the items of an open node. */
enum shape {
    SHAPE_ARRAY,
    SHAPE_OBJECT,   /* the pairs of a dict, as members */
    SHAPE_PAIRS,    /* the same, each as an array of two */
    SHAPE_INSTANCE, /* the parts of NODE_OBJECT */
};

struct level {
    uint32_t node;
    uint32_t next; /* the item to write next */
    uint8_t shape;
    bool wrapped; /* inside an extra object that names the kind */
};

struct dumper {
    struct json_writer json;
    const struct values *values;
    struct dump_refs refs;
    struct level *levels;
    size_t depth, level_capacity;
    uint32_t *last_dict; /* by string: the last dict found to have it as a key */
    size_t last_dict_capacity;
    uint32_t dict_count; /* looked at so far */
    struct budget *budget;
};

struct text dumper_text(const struct dumper *dumper, value string);

/* dump_scalars.c: values that are written in one go. `key` as in render/core/json.h; `id` 0: none.
 */
void dumper_put_text(struct dumper *dumper, const char *key, value string);
/* False, with nothing written, if the node is of a kind that can have a number. */
bool dumper_put_scalar(struct dumper *dumper, const char *key, const struct node *node);
/* NODE_BYTES, NODE_BYTEARRAY, NODE_BIGINT */
void dumper_put_bytes(struct dumper *dumper, const char *key, const struct node *node, uint32_t id);
/* Writes only "module.name", for a global for which dump_global_is_plain(). */
void dumper_put_plain_global(struct dumper *dumper, const char *key, const struct node *global);
void dumper_put_ref(struct dumper *dumper, const char *key, uint32_t id);
/* Begins an object, with its number if it has one; the caller adds what it is. */
void dumper_open(struct dumper *dumper, const char *key, uint32_t id);

#endif
