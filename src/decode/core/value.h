/* Inert values: the content of a pickle, of which nothing is executed.
 *
 * A value is 32 bits, a tag and a payload, so that the decoder's memo and stack stay small.
 * Constants, small integers and strings need nothing else; every other value is a node. In a
 * snapshot, frames, stacks and events are typed leaves: the decoder turns them into symbols and
 * rows at once and keeps only their number. Instances of classes of any module are NODE_OBJECT. */
#ifndef MEMSNAP_DECODE_CORE_VALUE_H
#define MEMSNAP_DECODE_CORE_VALUE_H

#include "base/arena.h"
#include "base/symbols.h"

typedef uint32_t value;

enum value_tag {
    TAG_CONST, /* payload: enum value_const */
    TAG_INT,   /* 0 <= payload <= VALUE_PAYLOAD_MAX */
    TAG_STRING,
    TAG_NODE,
    TAG_FRAME,
    TAG_STACK,
    TAG_EVENT, /* payload: number of events handed to the sink before it */
};

enum value_const { CONST_UNSET, CONST_NONE, CONST_FALSE, CONST_TRUE, CONST_MARK };

#define VALUE_PAYLOAD_MAX ((UINT32_C(1) << 29) - 1)

static inline value value_make(enum value_tag tag, uint32_t payload)
{
    return (value)(payload << 3 | (uint32_t)tag);
}

static inline enum value_tag value_tag(value v)
{
    return (enum value_tag)(v & 7);
}

static inline uint32_t value_payload(value v)
{
    return v >> 3;
}

#define VALUE_UNSET value_make(TAG_CONST, CONST_UNSET) /* all bits zero */
#define VALUE_NONE  value_make(TAG_CONST, CONST_NONE)
#define VALUE_FALSE value_make(TAG_CONST, CONST_FALSE)
#define VALUE_TRUE  value_make(TAG_CONST, CONST_TRUE)
#define VALUE_MARK  value_make(TAG_CONST, CONST_MARK)

enum node_kind {
    NODE_INT,      /* as.integer */
    NODE_UNSIGNED, /* as.natural: integers from 2^63 to 2^64-1 */
    NODE_BIGINT,   /* as.bytes: little-endian two's complement, for all other integers */
    NODE_FLOAT,
    NODE_BYTES,
    NODE_BYTEARRAY,
    NODE_LIST, /* items */
    NODE_TUPLE,
    NODE_SET,
    NODE_FROZENSET,
    NODE_DICT,   /* items: key, value, key, value... in file order; the last of equal keys counts */
    NODE_GLOBAL, /* items: module, name */
    NODE_OBJECT, /* items: enum object_part */
    NODE_PERSISTENT, /* items: the persistent id */
    NODE_EXTENSION,  /* as.integer: the code */
    NODE_FRAME,  /* as.natural: a dict that was converted to this frame, and may not change any more
                  */
    NODE_STACK,  /* the same for a list of frames */
    NODE_EVENT,  /* the same for an event: its number */
    NODE_BUFFER, /* as.natural: the index of an out-of-band buffer of protocol 5; its bytes are not
                    in the file */
    NODE_READONLY_BUFFER, /* as.natural: the same buffer after READONLY_BUFFER */
};

enum object_part {
    OBJECT_CLASS,  /* the callable: usually NODE_GLOBAL */
    OBJECT_ARGS,   /* its arguments, normally a tuple; VALUE_UNSET if OBJECT_CLASS is not called but
                      modified itself, by any of the following */
    OBJECT_KWARGS, /* VALUE_UNSET unless NEWOBJ_EX */
    OBJECT_EARLIER, /* NODE_LIST of the states that all BUILDs but the last would set, or
                       VALUE_UNSET */
    OBJECT_STATE,   /* the state that the last BUILD would set, or VALUE_UNSET */
    OBJECT_LIST, /* NODE_LIST of the items that APPEND(S) or ADDITEMS would add, or VALUE_UNSET */
    OBJECT_DICT, /* NODE_DICT of the items that SETITEM(S) would set, or VALUE_UNSET */
    OBJECT_PARTS,
};

/* The role of a container in a snapshot. The decoder hands its items on as rows instead of keeping
 * them. */
enum node_role {
    ROLE_NONE,
    ROLE_ROOT,
    ROLE_SEGMENTS,
    ROLE_TRACES,
    ROLE_TRACE,
    ROLE_ANNOTATIONS,
    ROLE_HOST_SEGMENTS,
    ROLE_USED, /* already converted to rows: may not change any more */
};

struct node {
    uint8_t kind;          /* enum node_kind */
    uint8_t role;          /* enum node_role */
    uint8_t log2_capacity; /* items: room for 1 << log2_capacity, 0 for none yet */
    uint32_t count;        /* items, or bytes */
    union {
        int64_t integer;
        uint64_t natural;
        double real;
        value *items;
        const uint8_t *bytes;
    } as;
    uint64_t offset; /* of the opcode that created it */
};

/* The nodes of one decoding. Creating a node invalidates pointers to others. */
struct values {
    struct node *nodes;
    size_t count, capacity;
    struct arena arena;
    struct symbols *symbols; /* not owned: holds the strings */
};

void values_init(struct values *values, struct symbols *symbols, struct budget *budget);
void values_release(struct values *values);

static inline struct node *value_node(const struct values *values, value v)
{
    return &values->nodes[value_payload(v)];
}

static inline bool value_is_node(const struct values *values, value v, enum node_kind kind)
{
    return value_tag(v) == TAG_NODE && value_node(values, v)->kind == kind;
}

bool value_new_node(struct values *values, enum node_kind kind, uint64_t offset, value *v,
                    struct error *err);
bool value_new_int(struct values *values, int64_t integer, uint64_t offset, value *v,
                   struct error *err);
/* `size` bytes of little-endian two's complement, as in LONG1; any size. */
bool value_new_long(struct values *values, const uint8_t *bytes, size_t size, uint64_t offset,
                    value *v, struct error *err);
bool value_new_bytes(struct values *values, enum node_kind kind, const uint8_t *bytes, size_t size,
                     uint64_t offset, value *v, struct error *err);
/* A node whose items are copied from `items`. */
bool value_new_items(struct values *values, enum node_kind kind, const value *items, size_t count,
                     uint64_t offset, value *v, struct error *err);
/* Appends to a node that has items. */
bool value_add_items(struct values *values, value v, const value *items, size_t count,
                     struct error *err);

/* False if the value is not an integer in that range (True and False count as 1 and 0, as in
 * Python). */
bool value_to_u64(const struct values *values, value v, uint64_t *out);
bool value_to_i64(const struct values *values, value v, int64_t *out);

/* True if the items of a node were handed on as rows instead of being kept. */
bool value_is_emptied(const struct values *values, value v);

/* The items of a list or tuple, or of an instance that had items appended. False if it has none. */
bool value_sequence(const struct values *values, value v, const value **items, size_t *count);
/* The key, value pairs of a dict, or of an instance that had items set: `*count` pairs. */
bool value_mapping(const struct values *values, value v, const value **pairs, size_t *count);

/* The name of the value's kind for errors: "a list", "an int", "an instance of a class". */
const char *value_kind_name(const struct values *values, value v);

#endif
