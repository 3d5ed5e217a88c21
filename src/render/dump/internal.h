/* A dump being written. */
#ifndef MEMSNAP_RENDER_DUMP_INTERNAL_H
#define MEMSNAP_RENDER_DUMP_INTERNAL_H

#include "decode/core/value.h"
#include "render/core/json.h"

/* Texts up to this many bytes are written in full at every use; longer ones only once. */
#define DUMP_SHORT_TEXT 256

/* Finds the values that a dump reaches more than once, so that each is written in full only once.
 */
struct dump_refs {
    uint32_t *nodes; /* by node: its state, see refs.c */
    uint32_t *texts; /* by string id; long ones only */
    size_t node_capacity, text_capacity;
    size_t depth; /* the most nodes that are open at once while `root` and `discarded` are walked;
                     an empty tuple does not count */
    uint32_t last_id;
    value *discarded; /* instances, then other values; in both groups, the last one made first */
    size_t discarded_count, discarded_capacity;
    struct budget *budget;
};

/* Visits every value reachable from `root`, to any depth and through cycles. Then visits
 * `discarded`, the objects that the pickle made Python import or call but then dropped, and
 * everything reachable from them. STATUS_LIMIT when over budget. */
bool dump_refs_build(struct dump_refs *refs, const struct values *values, value root,
                     struct budget *budget, struct error *err);
void dump_refs_release(struct dump_refs *refs);

enum meeting {
    MET_ONLY_HERE,
    MET_FIRST, /* the first of several uses; `*id` is its new number, counted from 1 */
    MET_AGAIN, /* `*id` is its number */
};

/* Both are called at each use of a value, in the order in which the dump is written. */
enum meeting dump_refs_meet_node(struct dump_refs *refs, value v, uint32_t *id);
enum meeting dump_refs_meet_text(struct dump_refs *refs, string_id text, uint32_t *id);
bool dump_refs_node_is_shared(const struct dump_refs *refs, value v);
/* True if the text is long and occurs more than once. */
bool dump_refs_text_is_shared(const struct dump_refs *refs, string_id text);

/* True if the text survives a round trip through a JSON string. It does not if a high surrogate
 * precedes a low one, because the pair would be read as one character. */
bool dump_text_is_plain(struct text text);
/* True if module and name of a NODE_GLOBAL can be written as module.name: both are short, and the
 * last dot is the one between them. */
bool dump_global_is_plain(const struct values *values, const struct node *global);

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

/* scalars.c: values that are written in one go. `key` as in render/core/json.h; `id` 0: none. */
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
