/* The sentences about an error of a log, once its verdict is known. */
#ifndef MEMSNAP_ANALYSIS_OOM_ERROR_WORDS_H
#define MEMSNAP_ANALYSIS_OOM_ERROR_WORDS_H

#include "analysis/oom/error.h"

/* Fills `sentence` and `next`. */
void oom_error_write_sentences(struct oom_error *error, enum unit unit);

/* The tool that shows the use of such devices: "nvidia-smi". */
const char *oom_monitor(const struct oom_message *message);

#endif
