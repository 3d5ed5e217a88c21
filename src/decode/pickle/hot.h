/* Reads tokens of a pickle directly from the bytes, for the fast paths.
 *
 * Internal to decode/pickle/hot*.c. Nothing here uses the machine's stack; a caller that gives up
 * must undo its additions to the memo. A function that returns false or NULL did not recognise the
 * bytes at `p`. */
#ifndef MEMSNAP_DECODE_PICKLE_HOT_H
#define MEMSNAP_DECODE_PICKLE_HOT_H

#include "decode/core/bytes.h"
#include "decode/pickle/vm.h"

/* Enough for any usual event; a longer one takes the general path. */
#define LOOK_AHEAD ((size_t)16 * 1024)
/* Bytes that must be there before an event is tried. Looking ahead moves what is left of the
 * buffer, and usually less of it is enough. */
#define USUAL_EVENT ((size_t)2 * 1024)

struct hot {
    struct pickle_vm *vm;
    const uint8_t *p;
    /* zero bytes follow, and 0 is not an accepted opcode: short tokens need no check */
    const uint8_t *end;
};

/* The position is one long chain of dependent additions, two dozen for each event, and must stay in
 * a register. So every function with a `struct hot *` is inlined. Functions that are too rare or
 * too large for that take a copy and return the position after what they read, or NULL if they gave
 * up. */
#define HOT static inline __attribute__((always_inline))

/* The index in the memo opcode at p; SIZE_MAX if there is none. */
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

/* Reads the memo opcode that may be at p, which gives the value the next index. Usual picklers
 * number in order; other indices are left to the machine. `*slot` is SIZE_MAX if there is no
 * opcode. */
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
    return *v != VALUE_UNSET; /* unset, like the slot of a container that is still open */
}

HOT void skip_frame_op(struct hot *hot)
{
    while (*hot->p == 0x95 && hot->end - hot->p > 9) /* FRAME */
        hot->p += 9;
}

/* hot_frames.c: functions too large or too rare to inline. They return the position after what they
 * read, or NULL. */
const uint8_t *hot_inline_string(struct hot hot, size_t prefix, size_t size, value *v);

HOT bool hot_string(struct hot *hot, size_t prefix, size_t size, value *v)
{
    value string;
    const uint8_t *after = hot_inline_string(*hot, prefix, size, &string);
    if (after == NULL)
        return false;
    hot->p = after;
    *v = string;
    return true;
}

/* Reads a string or a reference into the memo. */
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

/* Reads an integer of up to 64 bits. */
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

/* Reads a list of frames, at its EMPTY_LIST at `p`, and adds it to the memo; STACK_NONE if it is
 * empty. The arguments are passed in registers because this is called for nearly every event: a
 * struct of three would be copied through memory with store-forwarding stalls. */
const uint8_t *hot_frame_list(struct pickle_vm *vm, const uint8_t *p, const uint8_t *end, value *v);

#endif
