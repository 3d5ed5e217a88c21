/* Words about errors of sources whose texts tell nothing about PyTorch's memory. */
#ifndef MEMSNAP_ANALYSIS_OOM_SOURCE_WORDS_H
#define MEMSNAP_ANALYSIS_OOM_SOURCE_WORDS_H

#include "analysis/oom/sentence.h"
#include "model/oom_log.h"

/* Each writes a sentence if there is one for the source of the message; false if not. */
bool oom_source_say(const struct words *words, const struct oom_message *message);
bool oom_source_say_next(const struct words *words, const struct oom_message *message);

/* Names the event of a source that requested nothing: "a process killed by the system". NULL for a
 * source that requested memory. */
const char *oom_source_event(enum oom_source source);

/* True if a snapshot of PyTorch's allocator would show memory that matters for this error. */
bool oom_source_is_recorded(enum oom_source source);

#endif
