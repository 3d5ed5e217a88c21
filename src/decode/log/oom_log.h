/* Finds the out-of-memory errors of PyTorch in a log of any size.
 *
 * Lines of several processes may be mixed if a prefix says whose they are. Memory and the time per
 * byte are bounded. */
#ifndef MEMSNAP_DECODE_LOG_OOM_LOG_H
#define MEMSNAP_DECODE_LOG_OOM_LOG_H

#include "decode/core/source.h"
#include "decode/log/rows.h"

/* Frames and names are interned in `symbols`. Errors: STATUS_LIMIT, STATUS_IO and STATUS_BAD_INPUT
 * (gzip) from the source, or any error set by the sink. `*lines` is the number of lines. */
bool decode_oom_log(struct source *source, struct symbols *symbols, const struct oom_sink *sink,
                    uint64_t *lines, struct error *err);

#endif
