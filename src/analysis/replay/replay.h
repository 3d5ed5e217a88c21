/* What `memsnap replay` says about a device: whether the model reproduces the recording, and what
 * the same program would have reserved with other settings. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_REPLAY_H
#define MEMSNAP_ANALYSIS_REPLAY_REPLAY_H

#include "analysis/replay/as_is.h"
#include "analysis/replay/conf.h"
#include "analysis/replay/what_if.h"

struct replay_options {
    const struct allocator_settings *settings; /* of the user; NULL: the usual ones */
    size_t setting_count;
    uint64_t gpu_bytes;       /* memory of the device; 0: unknown */
    uint64_t other_bytes;     /* used by others: the CUDA context, NCCL, other processes */
    enum tie_break tie_break; /* TIE_BREAKS: the one that reproduces the recording best */
    bool no_empty_cache;
};

/* The program with other settings. */
struct replay_setting {
    struct allocator_settings settings;
    bool is_recorded; /* those of the capture */
    struct allocator_totals totals;
    bool has_least; /* false: does not fit with any amount of memory */
    uint64_t least_capacity;
    bool fits;        /* in the capacity, if that is known */
    uint64_t retries; /* in the capacity, if that is known: how often cached memory had to be
                         released before a request could be served */
};

enum replay_trust {
    TRUST_WHOLE,   /* the whole program is recorded, and reproduced exactly */
    TRUST_CHECKED, /* the cold replay reaches the recorded peak within 1 % */
    TRUST_LOW,     /* it stays below: the figures are lower bounds */
    TRUST_HIGH,    /* it exceeds the recorded peak */
    TRUST_INEXACT, /* the replay as recorded differs in more than 1 % of the allocations */
};

struct device_replay {
    const struct timeline *timeline;    /* not owned */
    char obstacle[232];                 /* why there are no figures; "": there are */
    struct allocator_settings settings; /* of the capture */
    struct program program;
    struct as_is as_is;
    uint64_t recorded_peak, cold_peak; /* reserved bytes */
    enum replay_trust trust;
    uint64_t capacity;         /* that PyTorch can have; 0: unknown */
    bool capacity_is_recorded; /* from an oom event, not from the options */
    struct replay_setting *rows;
    size_t row_count, row_capacity;
    const struct replay_setting *best; /* reserves least; NULL: none is better */
    struct replay_options options;
};

static inline bool replay_is_trusted(const struct device_replay *replay)
{
    return replay->trust == TRUST_WHOLE || replay->trust == TRUST_CHECKED;
}

/* Why the figures cannot be trusted; NULL: they can. */
const char *replay_doubt(enum replay_trust trust);

static inline uint64_t replay_unused(const struct replay_setting *row)
{
    return row->totals.peak_reserved - row->totals.allocated_at_peak;
}

/* Makes the program and replays it as recorded; the rows have only their settings. A trace that
 * cannot be replayed is no failure: it has an obstacle. `sites` may be NULL, and `range` for the
 * whole trace. */
bool device_replay_begin(const struct timeline *timeline, struct site_table *sites,
                         const struct item_range *range, const struct replay_options *options,
                         struct device_replay *replay, struct error *err);
/* Fills a row. Several may be filled in parallel, each with a budget of its own. */
bool device_replay_row(struct device_replay *replay, size_t row, struct budget *budget,
                       struct error *err);
/* Chooses the best row when all are filled. */
void device_replay_finish(struct device_replay *replay);
void device_replay_release(struct device_replay *replay);

/* Runs another program of the same device with the recorded settings, without a limit. */
bool device_replay_other(const struct device_replay *replay, const struct program *program,
                         struct what_if_result *result, struct error *err);

/* Reserved memory over time with the settings of a row. */
bool device_replay_curve(const struct device_replay *replay, size_t row,
                         struct reserved_points *points, struct budget *budget, struct error *err);

#endif
