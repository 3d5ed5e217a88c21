/* Judges captures by the rules of rule_set.h, and finds whose code is to blame. The figures are
 * those of the reports that `memsnap analyze` prints. */
#ifndef MEMSNAP_ANALYSIS_CHECK_CHECK_H
#define MEMSNAP_ANALYSIS_CHECK_CHECK_H

#include "analysis/check/baseline.h"
#include "analysis/check/rule_set.h"
#include "analysis/layers/layers.h"
#include "analysis/layers/operator_curves.h"
#include "analysis/report/report.h"
#include "analysis/trend/trend.h"
#include "model/summary.h"

#define CHECK_NO_DEVICE BASELINE_NO_DEVICE

/* The code that holds the most of a value. Strings are malloc'ed raw bytes: escape before
 * showing. */
struct check_blame {
    char *label; /* "model.py:39 forward", as in analyze; NULL: no code is known */
    char *file;  /* as recorded; NULL: no line of code */
    uint32_t line;
    int64_t bytes; /* its part of the value, or of the increase; 0: the value is not in bytes */
};

/* One rule on one device. */
struct check_row {
    const struct check_rule *rule; /* not owned */
    int64_t device;                /* or CHECK_NO_DEVICE */
    bool judged;          /* false: `why` says why not, `passed` is true, and the rest is 0 */
    int64_t limit, value; /* in the rule's unit */
    bool passed;          /* value <= limit */
    int64_t whole;        /* bytes of which a limit may be a share: reserved memory, or the peak of
                             the baseline; 0: none */
    struct check_blame blame;
    char *capture;    /* of summaries: the one whose value this is; otherwise NULL */
    size_t captures;  /* number of summaries with this device */
    char *why, *next; /* sentences, malloc'ed raw bytes; NULL: none. A row that was judged and
                         passed has none */
};

struct check_result {
    struct check_row *rows; /* device by device, in the order of the rules; then those not judged */
    size_t count, not_judged;
    size_t of_summaries; /* number of summaries that were judged */
    bool is_incomplete;  /* a rule was not judged, but must be */
    char **warnings;     /* malloc'ed raw bytes */
    size_t warning_count;
    bool held[CHECK_RULES_MOST];     /* by rule: at least one device could be judged by it */
    char *why_not[CHECK_RULES_MOST]; /* by replayed rule: why the first device could not be judged;
                                        malloc'ed, or NULL */
};

void check_result_release(struct check_result *result); /* a zeroed result is allowed */
/* True if no limit is exceeded. */
bool check_result_holds(const struct check_result *result);
/* True if no limit is exceeded and the result is not incomplete. */
bool check_result_passed(const struct check_result *result);

/* Finds the memory of the largest segment with the best placement of `checkpoints`, as printed by
 * `memsnap suggest --checkpoints`. */
typedef bool check_suggest(const struct layer_trace *trace, size_t checkpoints, int64_t *bytes,
                           struct error *err);

struct check_question {
    const struct check_rules *rules;
    const struct check_baseline *baseline; /* NULL: none */
    int64_t rank;                          /* of the capture, for a baseline by rank */
    struct site_table *sites;              /* of a snapshot */
    bool moment_given;      /* the user chose `at`: no warning of fragmentation at the end */
    enum unit unit;         /* of sizes in warnings */
    check_suggest *suggest; /* for layer traces */
};

/* Adds the rows of a device. Reports have all call sites (top = 0). `peak` is at the active peak;
 * `at` is at the moment of which categories, call sites and fragmentation are judged, and may be
 * the same report. */
bool check_device(const struct check_question *question, const struct device_report *at,
                  const struct device_report *peak, struct check_result *result, struct error *err);
bool check_layers(const struct check_question *question, const struct layers_report *report,
                  struct check_result *result, struct error *err);
bool check_curves(const struct check_question *question, const struct curves_report *report,
                  struct check_result *result, struct error *err);

/* The newest run of a history beside the runs before it, and what has grown since the run that has
 * their median. */
struct check_history {
    const struct trend *trend;
    struct trend_jump jump;
    const struct trend_share *categories, *sites; /* largest increase first */
    size_t category_count, site_count;
};

/* Judges a history by the rules for histories, and leaves out the others. STATUS_USAGE if there is
 * no rule for histories. A history with too few runs is not judged, which is not an error as in
 * check_finish(): every history begins so. */
bool check_runs(const struct check_question *question, const struct check_history *history,
                struct check_result *result, struct error *err);

/* Adds the devices of a summary. If there are several summaries, a rule has one row for each
 * device, with the highest value. Call check_summaries_finish() after the last one: it adds
 * warnings that name the capture of each value. */
bool check_summary(const struct check_question *question, const struct summary *summary,
                   struct check_result *result, struct error *err);
bool check_summaries_finish(struct check_result *result, struct error *err);

/* To be called after all devices. A rule that applied to nothing in the file gets a row that says
 * so, because it could not fail. STATUS_USAGE, naming the first rule, if no rule applied to
 * anything. */
bool check_finish(const struct check_rules *rules, struct check_result *result, struct error *err);

#endif
