/* The files that a dry run left in its private folder. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_OUTCOME_H
#define MEMSNAP_COMMANDS_DRYRUN_OUTCOME_H

#include "commands/dryrun/program.h"

struct outcome {
    enum {
        OUTCOME_FITS,
        OUTCOME_OUT_OF_MEMORY,
        OUTCOME_FAILED,  /* the program failed for another reason */
        OUTCOME_REFUSED, /* the program cannot be run dry */
    } kind;
    const char *snapshot; /* its name in the folder; NULL: there is none */
    bool is_stopped;      /* after --steps */
    bool is_interrupted;  /* an uncaught KeyboardInterrupt ended the program */
    uint64_t steps;       /* steps of the optimizer that made the most */
    uint64_t ooms;        /* how often memory ran out */
    bool has_resumed;     /* it made an optimizer step after that */
    uint64_t values_read;
    bool has_others;    /* processes that used CUDA after the recorded one */
    char reads[3][200]; /* the lines of code that read most values; "": none */
};

/* Reads the files. If there is no snapshot to explain, the error says why. */
void outcome_read(const struct dryrun_folder *folder, const struct program_end *end,
                  struct outcome *outcome, struct error *err);

#endif
