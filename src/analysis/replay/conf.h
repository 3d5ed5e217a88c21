/* PYTORCH_CUDA_ALLOC_CONF: torch's text for settings of its allocator, and the settings of a
 * snapshot. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_CONF_H
#define MEMSNAP_ANALYSIS_REPLAY_CONF_H

#include "analysis/replay/allocator.h"

#define CONF_TEXT_SIZE 400

/* Parses the text as torch 2.15 does, with torch's words for what is wrong. STATUS_USAGE: torch
 * refuses it, or the replay does not know what it does. */
bool conf_parse(const char *text, struct allocator_settings *settings, struct error *err);

/* The text that makes these settings from torch's defaults; "" for the defaults. Returns `out`. */
const char *conf_text(char out[CONF_TEXT_SIZE], const struct allocator_settings *settings);

/* The settings in force at the dump. */
bool conf_of_snapshot(const struct snapshot *snapshot, struct allocator_settings *settings,
                      struct error *err);

/* True if garbage_collection_threshold can have an effect: torch collects only if the memory
 * fraction is set, too. */
static inline bool conf_can_collect(const struct allocator_settings *settings)
{
    return settings->rules.gc_threshold > 0 && settings->memory_fraction > 0;
}

#endif
