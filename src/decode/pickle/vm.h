/* The pickle machine: CPython's opcodes over inert values.
 *
 * Internal to decode/pickle. With a sink the machine knows the shape of a snapshot: containers at
 * the expected places get a role, and their items are handed on as rows (roles.c); events in their
 * usual form bypass the machine (hot.c). Everything that those two do not recognise takes the
 * general path, with the same result. Without a sink every value is kept, for tools that read other
 * pickles.
 *
 * Functions return false with vm->err filled. */
#ifndef MEMSNAP_DECODE_PICKLE_VM_H
#define MEMSNAP_DECODE_PICKLE_VM_H

#include "decode/core/rows.h"
#include "decode/core/source.h"
#include "decode/core/value.h"
#include "decode/pickle/memo.h"
#include "decode/pickle/spans.h"
#include "decode/rows/reader.h"

/* A key in the form of a reference: (bytes at it & mask) == reference. Valid until a memo entry is
 * overwritten. */
struct key_shape {
    uint64_t mask, reference; /* mask 0: not known yet */
    uint32_t size;            /* bytes */
    uint32_t field;           /* enum event_field */
};

#define SHAPE_FIELDS 16

/* patterns.h */
struct pattern_cache {
    struct pattern *patterns; /* capacity PATTERNS, allocated with the first */
    size_t capacity;
    uint32_t count, last, oldest; /* last: the latest that matched */
    uint32_t strangers;           /* events since the last match */
};

struct known_string {
    value v;
    struct text text;
};

#define RECENT_STRINGS 16

struct pickle_vm {
    struct source *source;
    struct symbols *symbols;
    struct budget *budget;
    struct error *err;
    bool general_only; /* disable hot.c: same result, slower; for tests */
    struct values values;

    value *stack;
    size_t depth, stack_capacity;
    uint32_t *marks; /* stack depths of each VALUE_MARK */
    size_t mark_count, mark_capacity;
    struct memo memo;
    uint64_t buffer_count;
    int protocol;

    struct row_reader rows; /* sink NULL: keep all values; offset: of the current opcode */

    /* snapshots only */
    struct span_cache spans;
    value open_trace;  /* the ROLE_TRACE list to which `settled` applies */
    size_t settled;    /* stack items from here on have not been converted to rows */
    size_t unappended; /* events of open_trace that are still on the stack */
    struct key_shape shape[SHAPE_FIELDS]; /* the keys of the last events, by position */
    struct pattern_cache patterns;
    struct known_string strings[RECENT_STRINGS]; /* recent inline strings */
    value last_pool; /* the last pool_id tuple, shared by consecutive equal ones */
    uint64_t last_pool_id[2];
    value root; /* the value that the rows handed out so far belong to; VALUE_UNSET before the first
                 */
    unsigned seen; /* 1 << enum snapshot_part of the lists that began */
};

/* decode.c: decode_pickle_snapshot() with a choice of `general_only`. */
bool pickle_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     bool general_only, struct decoded *decoded, struct error *err);

/* run.c: runs to STOP and leaves the result in `*result`. */
bool pickle_run(struct pickle_vm *vm, value *result);
/* Frees everything, including the values. */
void pickle_vm_release(struct pickle_vm *vm);

/* vm.c: the machine's state. */
bool pickle_grow_stack(struct pickle_vm *vm);
static inline bool pickle_push(struct pickle_vm *vm, value v)
{
    if (vm->depth == vm->stack_capacity && !pickle_grow_stack(vm))
        return false;
    vm->stack[vm->depth++] = v;
    return true;
}
bool pickle_fail(struct pickle_vm *vm, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Makes `count` bytes available at source->pos, or fails with "truncated". */
bool pickle_need(struct pickle_vm *vm, size_t count);

/* The stack index of the first item above the innermost MARK. */
bool pickle_top_mark(struct pickle_vm *vm, size_t *first);
void pickle_drop_to_mark(struct pickle_vm *vm);
/* Fails unless there are `count` values, none of them a MARK, on top of the stack. */
bool pickle_have(struct pickle_vm *vm, size_t count);

/* binary.c: opcodes of strings, bytes and numbers in binary. */
bool pickle_binary_op(struct pickle_vm *vm, uint8_t op);
bool pickle_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v);
/* A string of Python 2, whose encoding is not recorded: if it is not UTF-8, it becomes bytes. */
bool pickle_old_string(struct pickle_vm *vm, const uint8_t *bytes, size_t size, value *v);

/* text.c: the line-based opcodes of protocol 0. For INST it only pushes the class. */
bool pickle_text_op(struct pickle_vm *vm, uint8_t op);
/* The line at source->pos without its newline, valid until the next read; consumes both. */
bool pickle_line(struct pickle_vm *vm, const uint8_t **line, size_t *size);

/* build.c: opcodes that build containers and objects. */
bool pickle_build_op(struct pickle_vm *vm, uint8_t op);
/* Pushes a new, empty container, with its role if it has one. */
bool pickle_push_container(struct pickle_vm *vm, enum node_kind kind);

/* object.c: opcodes that call, and modify instances. */
bool pickle_object_op(struct pickle_vm *vm, uint8_t op);
/* True if only Python could determine the value, by importing or calling something. */
bool pickle_is_opaque(const struct pickle_vm *vm, value v);
/* The node in a part of an instance; created if it does not exist. */
bool pickle_object_part(struct pickle_vm *vm, value object, enum object_part part,
                        enum node_kind kind, value *v);

/* patterns.c: recognises whole events by byte patterns. */
void patterns_clear(struct pickle_vm *vm); /* removes all patterns */
void patterns_release(struct pickle_vm *vm);

/* roles.c: the containers of a snapshot, and the conversion of their items. */
/* The role of a list or dict about to be pushed, derived from the stack. */
enum node_role pickle_role_here(const struct pickle_vm *vm, bool is_dict);
bool pickle_role_taken(struct pickle_vm *vm, value v, enum node_role role);
/* Converts the stack's values from `first` on, appended to `container`, to rows. */
bool pickle_emit_items(struct pickle_vm *vm, value container, size_t first);
/* Completes the decoding, when the whole pickle is `root`. */
bool pickle_emit_result(struct pickle_vm *vm, value root, bool *list_only);
/* Converts the unsettled values on the stack to rows of the open trace. */
bool pickle_settle(struct pickle_vm *vm);

/* True if a value pushed now becomes an event of the open trace. */
static inline bool pickle_in_trace(const struct pickle_vm *vm)
{
    if (vm->open_trace == VALUE_UNSET || vm->depth == 0)
        return false;
    return vm->stack[vm->depth - 1] == vm->open_trace ||
           (vm->mark_count > 0 && vm->marks[vm->mark_count - 1] > 0 &&
            vm->stack[vm->marks[vm->mark_count - 1] - 1] == vm->open_trace);
}

/* hot.c: reads all consecutive events in their usual form at source->pos, which is at an EMPTY_DICT
 * that would go into a trace. If there is none, `*consumed` is false, and the machine must read the
 * event. */
bool pickle_hot_events(struct pickle_vm *vm, bool *consumed);
/* Reads one list of frames, at its EMPTY_LIST, in the same way. */
bool pickle_hot_stack(struct pickle_vm *vm, bool *consumed, value *v);

#endif
