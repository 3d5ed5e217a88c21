/* Whether a capture keeps within the rules of check_rules.h, and whose code is to blame. The
 * figures are those of the reports that `memsnap analyze` prints. */
#ifndef MEMSNAP_ANALYSIS_CHECK_CHECK_H
#define MEMSNAP_ANALYSIS_CHECK_CHECK_H

#include "analysis/check/baseline.h"
#include "analysis/check/rules.h"
#include "analysis/layers/layers.h"
#include "analysis/layers/operator_curves.h"
#include "analysis/report/report.h"

#define CHECK_NO_DEVICE INT64_C(-1)

enum check_unit { CHECK_BYTES, CHECK_BYTES_A_STEP, CHECK_EVENTS, CHECK_SITES };

enum check_unit check_unit_of(enum check_kind kind);

/* What holds the most of a value. Strings are malloc'ed raw bytes: escape before showing. */
struct check_blame {
    char *label; /* "model.py:39 forward", as analyze has it; NULL: nothing to name */
    char *file;  /* as recorded; NULL: no line of code */
    uint32_t line;
    int64_t bytes; /* of the value; of an increase, those it has more. 0: not bytes */
};

/* One rule on one device. */
struct check_row {
    const struct check_rule *rule; /* not owned */
    int64_t device;                /* or CHECK_NO_DEVICE */
    int64_t limit, value;          /* in the rule's unit; passed: value <= limit */
    bool passed;
    int64_t whole; /* bytes that a share is of: reserved, or the baseline's peak; 0: none */
    struct check_blame blame;
    char *why, *next; /* sentences, malloc'ed raw bytes; NULL: none. Only where it failed */
};

struct check_result {
    struct check_row *rows; /* device by device, in the order of the rules */
    size_t count;
    char **warnings; /* malloc'ed raw bytes */
    size_t warning_count;
    bool held[CHECK_RULES_MOST]; /* which rules some device could be held to */
};

void check_result_release(struct check_result *result); /* fine for zeros */
bool check_result_passed(const struct check_result *result);

/* What a snapshot is held to. */
struct check_question {
    const struct check_rules *rules;
    const struct check_baseline *baseline; /* NULL: none */
    struct site_table *sites;
    bool moment_given; /* the user chose `at`: no word of fragmentation at the end */
    enum unit unit;    /* of sizes in warnings */
};

/* Adds the rows of a device. Reports have all call sites (top = 0); `peak` is at the active peak,
 * `at` at the moment that categories, call sites and fragmentation are asked of: often the same.
 * A rule that the device cannot be held to leaves a warning. */
bool check_device(const struct check_question *question, const struct device_report *at,
                  const struct device_report *peak, struct check_result *result, struct error *err);

/* Of a layer trace. after_suggest[i] is what rule i's checkpoints leave, where it is of that kind.
 */
bool check_layers(const struct check_question *question, const struct layers_report *report,
                  const int64_t *after_suggest, struct check_result *result, struct error *err);

bool check_curves(const struct check_question *question, const struct curves_report *report,
                  struct check_result *result, struct error *err);

/* Once all devices are done. STATUS_USAGE, naming the rule, where one could not be held against
 * anything in the file: it could not fail. */
bool check_finish(const struct check_rules *rules, const struct check_result *result,
                  struct error *err);

#endif
