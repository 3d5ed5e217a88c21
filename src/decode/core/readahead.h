/* Runs another stream ahead of its reader, on a thread of its own: inflating goes on while what
 * came before is decoded.
 *
 * The thread starts once READAHEAD_AFTER bytes have been read, so that a small input costs none.
 * Where it cannot, for want of memory or of a thread, the stream is read directly all the way.
 * Errors arrive behind the bytes before them, and closing ends a read that waits. */
#ifndef MEMSNAP_DECODE_CORE_READAHEAD_H
#define MEMSNAP_DECODE_CORE_READAHEAD_H

#include "decode/core/source_stream.h"

#define READAHEAD_AFTER ((size_t)1024 * 1024)
#define READAHEAD_SLOT  ((size_t)256 * 1024)
#define READAHEAD_SLOTS ((size_t)4)

/* Takes over `inner` (closed on failure too), which must not touch `budget` when it is read. NULL
 * on failure. */
struct source_stream *readahead_stream(struct source_stream *inner, struct budget *budget,
                                       struct error *err);

#endif
