/* The options of `memsnap check`. */
#ifndef MEMSNAP_COMMANDS_CHECK_OPTIONS_H
#define MEMSNAP_COMMANDS_CHECK_OPTIONS_H

#include "analysis/check/rule_set.h"
#include "analysis/report/report.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "render/check/check.h"

enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_JUNIT, CHECK_GITHUB };

struct check_options {
    struct capture_options capture;
    struct file_choice files;
    struct report_options report; /* the moment of categories, call sites and fragmentation */
    struct check_look look;       /* --at, --range, --device and --rules as given */
    struct check_rules rules;     /* from the command line, later also from the policy */
    const char *policy, *baseline;
    const char *trend; /* a history of runs that is checked; NULL: captures are */
    size_t last;       /* runs before the newest that it is compared with; 0: all */
    bool last_given;
    const char *source_root, *output;
    enum check_format format;
    enum unit unit;
    size_t jobs;                 /* files read in parallel; 0: one per core */
    const char *snapshot_option; /* the first given option that applies only to snapshots */
};

/* Options for the rules of check_kinds, then the other options. Not thread-safe. */
const struct option_spec *check_option_specs(void);
extern const struct option_words check_option_words[];

/* Stores one option, with its argument in optarg. */
bool check_option(int option, void *to, struct error *err);
/* Reads the policy, sets defaults, and rejects conflicting options. */
bool check_options_complete(struct check_options *options, struct error *err);
/* Prints the results. False: out of memory. */
bool check_print(const struct check_options *options, const struct checked_file *files,
                 size_t count, FILE *out);
/* The formats for CI include errors, so they are printed even if no file could be checked. */
bool check_is_for_ci(enum check_format format);

/* Checks the newest run of options->trend, and reports failures. */
enum status check_trend(const struct check_options *options);

void check_options_release(struct check_options *options);

#endif
