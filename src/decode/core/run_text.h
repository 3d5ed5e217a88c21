/* Texts that a run of MemProfiler leaves. */
#ifndef MEMSNAP_DECODE_CORE_RUN_TEXT_H
#define MEMSNAP_DECODE_CORE_RUN_TEXT_H

#include "decode/core/sniff.h"

/* The first "0.training_step.2.end" or the like in [begin, end): a moment of MemProfiler. NULL if
 * there is none. */
const uint8_t *find_run_moment(const uint8_t *begin, const uint8_t *end);
/* KIND_RUN_STATS, KIND_RUN_TABLES or KIND_UNKNOWN, by the first lines. */
enum file_kind kind_of_run_text(const uint8_t *p, const uint8_t *end);

#endif
