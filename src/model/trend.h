/* One metric of run after run, from a history of runs. */
#ifndef MEMSNAP_MODEL_TREND_H
#define MEMSNAP_MODEL_TREND_H

#include "base/arena.h"
#include "base/text.h"
#include "decode/core/input.h"

enum trend_unit { TREND_BYTES, TREND_BYTES_A_STEP, TREND_EVENTS, TREND_UNITS };

extern const char *const trend_unit_names[TREND_UNITS]; /* "bytes", ..., as in JSON */

/* Texts come from the history and may be any bytes: escape before showing. */
struct trend_point {
    int64_t run; /* its number in the history */
    struct text name, commit;
    int64_t time_s;         /* when it was stored, in seconds since 1970 */
    uint64_t ranks, failed; /* number of devices of the ranks asked for, without the host; number of
                               files that could not be read */
    bool is_known;          /* false: no rank has the metric, and the members below are 0 */
    int64_t value;          /* the highest of all ranks, in trend.unit */
    int64_t rank;           /* the rank that has it; -1: unknown */
    int64_t holder;         /* the row of that rank's device in the history */
};

struct trend {
    const char *metric; /* not owned */
    enum trend_unit unit;
    struct trend_point *points; /* oldest first */
    size_t count, capacity;
    struct arena texts;
    struct budget budget;
};

/* A category or a call site, and what it holds. */
struct trend_share {
    struct text name;
    int64_t bytes;
};

struct trend_shares {
    struct trend_share *items; /* by name */
    size_t count, capacity;
};

void trend_init(struct trend *trend, size_t max_memory);
void trend_release(struct trend *trend);
/* Replaces `*text` by a copy that the trend owns. */
bool trend_text(struct trend *trend, struct text *text, struct error *err);

/* Reads what `memsnap trend --format json` writes into an empty trend. Closes the input, which has
 * not been read yet, also on failure. */
bool trend_load_input(struct trend *trend, struct input *input, struct error *err);

/* The shares and their names are counted in the trend's budget; the names are the trend's. */
void trend_shares_release(struct trend_shares *shares, struct trend *trend);

#endif
