/* Reads another stream ahead of its reader on a separate thread, so that reading or inflating and
 * decoding overlap, and lends what it has read.
 *
 * The thread starts once READAHEAD_AFTER bytes have been read, so that a small input needs no
 * thread. If it cannot be started, for lack of memory or threads, the whole stream is read
 * directly. Errors are reported after the bytes before them, and closing interrupts a waiting read.
 */
#ifndef MEMSNAP_DECODE_CORE_READAHEAD_H
#define MEMSNAP_DECODE_CORE_READAHEAD_H

#include "decode/core/source_stream.h"

#define READAHEAD_AFTER ((size_t)1024 * 1024)
#define READAHEAD_SLOT  ((size_t)96 * 1024)
#define READAHEAD_SLOTS ((size_t)8)

/* Takes over `inner`, and closes it on failure, too. Reading `inner` must not use `budget`. NULL on
 * failure. */
struct source_stream *readahead_stream(struct source_stream *inner, struct budget *budget,
                                       struct error *err);

#endif
