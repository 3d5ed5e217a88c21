/* Shared by the files of the pickler. */
#ifndef MEMSNAP_RENDER_EXPORT_PICKLER_INTERNAL_H
#define MEMSNAP_RENDER_EXPORT_PICKLER_INTERNAL_H

#include "render/export/pickler.h"

enum {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_BINFLOAT = 'G',
    OP_PROTO = 0x80,
    OP_TUPLE2 = 0x86,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
};

void pickler_code(struct pickler *pickle, int code);
/* An opcode and a number of `count` bytes. */
void pickler_number(struct pickler *pickle, int code, uint64_t value, size_t count);
/* Called when a value and its memo opcode have been written. A frame ends only here, as in CPython.
 * The few opcodes in between always fit into a frame. */
void pickler_end_value(struct pickler *pickle);
/* Writes valid UTF-8 without calling pickler_end_value(). */
void pickler_utf8(struct pickler *pickle, const char *bytes, size_t size);

#endif
