/* Writes the predictions of `memsnap shard`. */
#ifndef MEMSNAP_RENDER_SHARD_SHARD_H
#define MEMSNAP_RENDER_SHARD_SHARD_H

#include "analysis/shard/choice.h"
#include "analysis/shard/sweep.h"
#include "render/core/page.h"

struct shard_report {
    const struct shard_model *model;
    const struct shard_model *checkpointed; /* the same step with checkpoints, or NULL */
    const struct shard_options *options;
    const struct shard_choice *choice;
    const char *source;             /* "layer trace", ... */
    bool is_recorded;               /* not sizes by hand */
    bool assumes_optimizer;         /* none was named */
    bool has_modules;               /* the names of units are those of modules */
    uint32_t device;                /* a snapshot: the device that was read */
    size_t other_devices;           /* and how many others it has, which were not */
    const struct text *checkpoints; /* modules that the plan of checkpoints wraps */
    size_t checkpoint_count;        /* 0: their names are not known */
    bool lacks_checkpoints;         /* the input does not tell enough to predict them */
    bool has_curve;                 /* JSON, CSV: write the curves */
    bool has_modules_table;         /* text, JSON: write the tables by unit */
    bool is_checkpointed;           /* the code applies the plan */
    bool has_code;                  /* print the code of `code` */
    enum shard_strategy code;
};

/* Write all strategies side by side. All three set the error on failure. */
bool shard_text(const struct page *page, const struct shard_report *report, struct error *err);
bool shard_json(FILE *out, const struct shard_report *report, struct error *err);
bool shard_csv(FILE *out, const struct shard_report *report, struct error *err);
/* A row for each strategy, ranks and column of their curve. Sets the error. */
bool shard_curves_csv(FILE *out, const struct shard_report *report, struct error *err);

/* Write the results of a sweep. False if out of memory. */
bool shard_sweep_text(const struct page *page, const struct shard_sweep *sweep);
bool shard_sweep_json(FILE *out, const struct shard_sweep *sweep);
/* The same as CSV. Sets the error on failure. */
bool shard_sweep_csv(FILE *out, const struct shard_sweep *sweep, struct error *err);

/* The Python code that applies a strategy. */
bool shard_python(FILE *out, const struct shard_report *report);

#endif
