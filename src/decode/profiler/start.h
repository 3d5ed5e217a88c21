/* The beginning of a trace of torch.profiler, for choosing among files without reading them. */
#ifndef MEMSNAP_DECODE_PROFILER_START_H
#define MEMSNAP_DECODE_PROFILER_START_H

#include "decode/core/source.h"

/* The rank in distributedInfo, among the unread bytes in the source's buffer; -1 if there is none.
 */
int64_t profile_rank(const struct source *source);

#endif
