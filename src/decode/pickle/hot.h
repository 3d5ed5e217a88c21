/* The tokens of a pickle, read straight from the bytes for the fast paths.
 *
 * Internal to decode/pickle/hot*.c. Nothing here touches the machine's stack;
 * what is added to the memo is taken back by whoever gives up. Functions
 * that return false, or NULL, have not understood what stands at `p`. */
#ifndef MEMSNAP_DECODE_PICKLE_HOT_H
#define MEMSNAP_DECODE_PICKLE_HOT_H

#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

/* Enough for any usual event; a longer one takes the general way. */
#define LOOK_AHEAD ((size_t)16 * 1024)

struct hot {
    struct pickle_vm *vm;
    const uint8_t *p;
    /* zero bytes follow, and 0 is no opcode we accept: short tokens need no check */
    const uint8_t *end;
};

/* The position is one long chain of dependent additions, two dozen an event: it must stay in a
 * register. So whatever takes a `struct hot *` is inlined, and what is too rare or too large for
 * that takes a copy and returns the position behind what it read, NULL where it gave up. */
#define HOT static inline __attribute__((always_inline))

/* The index that the memo opcode which may stand at p names; SIZE_MAX without one. */
HOT size_t hot_memo_index(struct hot *hot)
{
    const uint8_t *p = hot->p;
    switch (*p) {
    case 0x94: /* MEMOIZE */
        hot->p += 1;
        return hot->vm->memo.extent;
    case 'q': /* BINPUT */
        hot->p += 2;
        return p[1];
    case 'r': /* LONG_BINPUT */
        hot->p += 5;
        return load_le32(p + 1);
    default:
        return SIZE_MAX;
    }
}

/* The memo opcode that may stand at p: gives the value the next index. The usual pickler
 * numbers in order; other indices are left to the machine. `*slot` is SIZE_MAX without one. */
HOT bool hot_memo(struct hot *hot, value v, size_t *slot)
{
    struct pickle_vm *vm = hot->vm;
    size_t index = hot_memo_index(hot);
    *slot = index == SIZE_MAX ? SIZE_MAX : memo_slot(&vm->memo);
    return index == SIZE_MAX ||
           (index == vm->memo.extent && vm->memo.unset == 0 && memo_append(&vm->memo, v, vm->err));
}

HOT void fill_slot(struct hot *hot, size_t slot, value v)
{
    if (slot != SIZE_MAX)
        memo_fill(&hot->vm->memo, slot, v);
}

HOT bool memo_value(const struct hot *hot, size_t index, value *v)
{
    *v = memo_at(&hot->vm->memo, index);
    return *v != VALUE_UNSET; /* as the slot of a container still open */
}

HOT void skip_frame_op(struct hot *hot)
{
    while (*hot->p == 0x95 && hot->end - hot->p > 9) /* FRAME */
        hot->p += 9;
}

/* hot_frames.c: what is not worth inlining. Returns the position behind it, or NULL. */
const uint8_t *hot_inline_string(struct hot hot, size_t prefix, size_t size, value *v);

HOT bool hot_string(struct hot *hot, size_t prefix, size_t size, value *v)
{
    value string;
    const uint8_t *behind = hot_inline_string(*hot, prefix, size, &string);
    if (behind == NULL)
        return false;
    hot->p = behind;
    *v = string;
    return true;
}

/* A string or a reference into the memo. */
HOT bool hot_value(struct hot *hot, value *v)
{
    switch (*hot->p) {
    case 'h': /* BINGET */
        hot->p += 2;
        return memo_value(hot, hot->p[-1], v);
    case 'j': /* LONG_BINGET */
        hot->p += 5;
        return memo_value(hot, load_le32(hot->p - 4), v);
    case 0x8c: /* SHORT_BINUNICODE */
        return hot_string(hot, 2, hot->p[1], v);
    case 'X': /* BINUNICODE */
        return hot_string(hot, 5, load_le32(hot->p + 1), v);
    default:
        return false;
    }
}

/* An integer of up to 64 bits. */
HOT bool hot_int(struct hot *hot, uint64_t *bits, bool *negative)
{
    const uint8_t *p = hot->p;
    *negative = false;
    switch (*p) {
    case 'K': /* BININT1 */
        *bits = p[1];
        hot->p += 2;
        return true;
    case 'M': /* BININT2 */
        *bits = load_le16(p + 1);
        hot->p += 3;
        return true;
    case 'J': /* BININT */
        *bits = (uint64_t)(int64_t)(int32_t)load_le32(p + 1);
        *negative = (int64_t)*bits < 0;
        hot->p += 5;
        return true;
    case 0x8a: { /* LONG1 */
        size_t size = p[1];
        if (size == 0 || size > 9 || (size == 9 && p[10] != 0))
            return false;
        *bits = load_le64(p + 2);
        if (size < 8) {
            unsigned shift = (unsigned)(64 - 8 * size);
            *bits = (uint64_t)((int64_t)(*bits << shift) >> shift);
        }
        *negative = size < 9 && (int64_t)*bits < 0;
        hot->p += 2 + size;
        return true;
    }
    default:
        return false;
    }
}

/* A list of frames, at its EMPTY_LIST at `p`: STACK_NONE when empty. The memo knows it afterwards.
 * Called for nearly every event, so its arguments come in registers: a struct of three is copied
 * through memory in halves that processors are slow to put together. */
const uint8_t *hot_frame_list(struct pickle_vm *vm, const uint8_t *p, const uint8_t *end, value *v);

#endif
