/* The options of `memsnap suggest`. */
#ifndef MEMSNAP_COMMANDS_SUGGEST_OPTIONS_H
#define MEMSNAP_COMMANDS_SUGGEST_OPTIONS_H

#include "base/units.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/options.h"
#include "solve/advice/advice.h"
#include "solve/problem/restrict.h"

#define SUGGEST_MOST_BUDGETS 64

enum suggest_question { SUGGEST_FRONT, SUGGEST_CHECKPOINTS, SUGGEST_BUDGETS };
enum suggest_format { SUGGEST_TEXT, SUGGEST_JSON, SUGGEST_CSV };

/* Bytes, or a share of the peak without checkpoints. */
struct suggest_budget {
    int64_t bytes;
    double share; /* 0: `bytes` is the budget */
};

struct suggest_options {
    enum suggest_question question;
    enum suggest_format format;
    enum unit unit;
    size_t checkpoints, skipped_layers;
    struct suggest_budget budgets[SUGGEST_MOST_BUDGETS];
    size_t budget_count;
    struct cuts cuts;
    struct restriction restriction;
    struct plan_options plan; /* its `verify` is decided by `verify` below */
    int verify;               /* 1, 0, or -1: up to SUGGEST_VERIFIED_LAYERS */
    bool model_given, front_given;
    struct capture_options capture; /* max_memory applies to any kind of file */
    struct file_choice files;
    const char *snapshot_option; /* a given option that applies only to snapshots, or NULL */
    const char *times;           /* a file of layer times, or NULL */
    const char *output;
    bool no_code, verbose;
};

#define SUGGEST_VERIFIED_LAYERS 2000

extern const struct option_spec suggest_option_specs[];
extern const struct option_words suggest_option_words[];

/* The option_taker for struct suggest_options. */
bool suggest_option(int option, void *options, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool suggest_options_complete(struct suggest_options *options, struct error *err);

#endif
