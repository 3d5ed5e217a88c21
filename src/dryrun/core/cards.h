/* The GPUs that a dry run can stand in for. */
#ifndef MEMSNAP_DRYRUN_CORE_CARDS_H
#define MEMSNAP_DRYRUN_CORE_CARDS_H

#include <stdint.h>

/* A model of GPU: its memory, and the properties that PyTorch and libraries choose kernels by. */
struct card {
    const char *name;    /* for --gpu */
    const char *product; /* as CUDA reports it */
    uint64_t bytes;      /* total memory as CUDA reports it; drivers differ by up to 1 % */
    int major, minor;    /* compute capability */
    int multiprocessors;
    int threads;      /* per multiprocessor */
    int shared;       /* bytes of shared memory per multiprocessor */
    int shared_optin; /* bytes of shared memory that one block may request */
    int l2;           /* bytes */
    int bus_width;    /* bits */
    int clock;        /* kHz */
    int memory_clock; /* kHz */
};

extern const struct card cards[]; /* ends with a NULL name; the first is the default */

/* NULL: no such card. */
const struct card *card_find(const char *name);

#endif
