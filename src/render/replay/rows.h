/* The rows of `memsnap replay`, one for each setting. */
#ifndef MEMSNAP_RENDER_REPLAY_ROWS_H
#define MEMSNAP_RENDER_REPLAY_ROWS_H

#include "render/core/rows.h"
#include "render/replay/replay.h"

struct replay_row {
    int64_t device; /* as torch numbers it */
    char alloc_conf[CONF_TEXT_SIZE];
    uint64_t peak_reserved_bytes, unused_at_peak_bytes, least_capacity_bytes;
    uint64_t segment_allocs, segment_frees, retries;
    bool has_least, has_verdict, fits, trusted, is_recorded, is_best;
};

extern const struct row_type replay_row_type;

void replay_row_make(struct replay_row *row, const struct device_replay *replay, size_t index);

/* The text of the setting in words for people. */
const char *replay_setting_name(char text[CONF_TEXT_SIZE], const struct replay_setting *setting);

/* For programs: "whole_recording", "checked", "lower_bound", "upper_bound" or
 * "inexact". */
const char *replay_trust_name(enum replay_trust trust);

#endif
