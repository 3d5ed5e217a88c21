/* The options of `memsnap dryrun`. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_OPTIONS_H
#define MEMSNAP_COMMANDS_DRYRUN_OPTIONS_H

#include "commands/cli/command.h"
#include "dryrun/core/cards.h"

#define GPUS_MOST 16 /* of --fit */

/* An argument of --gpu. */
struct dryrun_gpu {
    char name[24]; /* as the user wrote it */
    const struct card *card;
    uint64_t memory; /* bytes; 0: the memory of the card */
};

struct dryrun_options {
    struct dryrun_gpu gpus[GPUS_MOST]; /* the first is the default until others are given */
    size_t gpu_count;                  /* that were given */
    uint64_t other;                    /* bytes in use by others */
    uint64_t devices, steps, late;
    uint64_t world,
        rank; /* ranks of a distributed program, and the one that runs; world 0: as started */
    const char *allocator; /* PYTORCH_CUDA_ALLOC_CONF; NULL: as in the environment */
    const char *output;    /* NULL: as by default */
    const char *fit;       /* NULL: no --fit */
    const char *only_fit;  /* the first option given that needs --fit; NULL: none */
    size_t jobs;
    uint64_t timeout; /* seconds; 0: none */
    bool all_stacks, is_lenient, json, list;
};

extern const struct option_spec dryrun_option_specs[];

/* Bytes of memory of a GPU. */
uint64_t dryrun_gpu_bytes(const struct dryrun_gpu *gpu);

void dryrun_options_begin(struct dryrun_options *options);
bool dryrun_option(int option, void *options, struct error *err);
/* Checks options that depend on each other, and sets defaults that depend on others. */
bool dryrun_options_finish(struct dryrun_options *options, struct error *err);

#endif
