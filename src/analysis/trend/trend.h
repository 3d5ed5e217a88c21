/* Judges the newest run of a trend by those before it. */
#ifndef MEMSNAP_ANALYSIS_TREND_TREND_H
#define MEMSNAP_ANALYSIS_TREND_TREND_H

#include "model/trend.h"

#define TREND_RUNS_LEAST 3 /* earlier runs, so that one outlier is not the median */

/* The newest run beside the median of earlier ones. */
struct trend_jump {
    const struct trend_point *newest; /* NULL: there is no run */
    const struct trend_point *usual;  /* the one whose value is the median; NULL: not judged */
    size_t compared;                  /* earlier runs that have the metric */
};

/* Compares with the last `most` runs before the newest one that have the metric; 0: all. Of an even
 * number, the median is the lower one of the middle. Not judged if there are fewer than
 * TREND_RUNS_LEAST, or the newest run lacks the metric. */
bool trend_judge(const struct trend *trend, size_t most, struct trend_jump *jump,
                 struct error *err);
/* The same for run `at` of the trend, as if it were the newest. */
bool trend_judge_at(const struct trend *trend, size_t at, size_t most, struct trend_jump *jump,
                    struct error *err);

/* What has grown the most from one list of shares to another: at most `most` items, the largest
 * increase first, whose `bytes` are the increase. Returns their number. */
size_t trend_grown(const struct trend_shares *before, const struct trend_shares *after,
                   struct trend_share *grown, size_t most);

#endif
