/* The options of `memsnap analyze`. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_OPTIONS_H
#define MEMSNAP_COMMANDS_ANALYZE_OPTIONS_H

#include "analysis/report/report.h"
#include "base/units.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "render/analyze/analyze.h"

#define DEFAULT_RANKS 8

struct analyze_options {
    struct capture_options capture;
    struct file_choice files;
    struct report_options report;
    size_t largest; /* single allocations in text; 0: all */
    bool top_given, verbose, json;
    bool allocations;    /* JSON only */
    const char *explain; /* text only: an address or part of a call site; NULL: print the report */
    const char *rules;   /* file with the user's rules, "none", or NULL for the default file */
    enum stack_detail stacks;
    enum unit unit;
    size_t jobs;    /* files read in parallel; 0: one per core */
    uint32_t ranks; /* layer traces: ranks to shard parameters over */
    uint32_t depth; /* runs of MemProfiler: levels of the tree of modules; 0: no tree */
    /* the first given option that applies only to: */
    const char *snapshot_option; /* allocator snapshots */
    const char *layers_option;   /* layer traces */
    const char *run_option;      /* runs of MemProfiler */
    const char *output;          /* NULL: standard output */
    const char *trace;           /* profiler trace to join with; NULL: none */
    const char *summary;         /* write a summary to this file, and no report; NULL: a report */
};

extern const struct option_spec analyze_option_specs[];
extern const struct option_words analyze_option_words[];

/* Stores one option, with its argument in optarg. */
bool analyze_option(int option, void *to, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. `has_files`: files are
 * named as well. */
bool analyze_options_complete(struct analyze_options *options, bool has_files, struct error *err);

#endif
