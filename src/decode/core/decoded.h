/* What is known of an allocator snapshot once it has been decoded, apart from its rows. */
#ifndef MEMSNAP_DECODE_CORE_DECODED_H
#define MEMSNAP_DECODE_CORE_DECODED_H

#include "decode/core/sniff.h"

struct decoded {
    enum encoding encoding;
    int protocol;   /* pickle: the PROTO operand, or 0 / 1 as the opcodes show; JSON: -1 */
    bool list_only; /* very old file: a bare list of segments */
};

#endif
