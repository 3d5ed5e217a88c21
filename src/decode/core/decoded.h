/* Properties of a decoded allocator snapshot, apart from its rows. */
#ifndef MEMSNAP_DECODE_CORE_DECODED_H
#define MEMSNAP_DECODE_CORE_DECODED_H

#include "decode/core/sniff.h"

struct decoded {
    enum encoding encoding;
    int protocol;   /* pickle: the PROTO operand, or 0 or 1 as derived from the opcodes; JSON: -1 */
    bool list_only; /* very old file: a bare list of segments */
};

#endif
