/* Explains the out-of-memory errors of a log by the sizes in their texts. */
#ifndef MEMSNAP_ANALYSIS_OOM_ERROR_H
#define MEMSNAP_ANALYSIS_OOM_ERROR_H

#include "analysis/oom/oom.h"
#include "model/oom_log.h"

/* How the device's memory divides. The parts and `unexplained_bytes` sum to `total_bytes`, unless
 * `excess_bytes` is not 0: that much more than the device has. */
struct oom_account {
    bool is_known; /* if not, the text leaves sizes out, and all the others are 0 */
    uint64_t total_bytes, free_bytes;
    uint64_t within_bytes;      /* the part of free_bytes that the limit on this process allows */
    uint64_t used_bytes;        /* allocated by PyTorch, without free blocks of private pools */
    uint64_t private_bytes;     /* free blocks of private pools */
    uint64_t unallocated_bytes; /* reserved by PyTorch, but free, in other pools */
    uint64_t reserved_bytes;    /* the sum of the last three */
    uint64_t device_used_bytes; /* not free: reserved_bytes and outside_bytes */
    uint64_t outside_bytes;     /* held outside of PyTorch's allocator, by any process */
    bool own_is_known;          /* the text tells what this process holds */
    uint64_t own_bytes;         /* held by this process outside of PyTorch's allocator */
    uint64_t own_pid;           /* of this process, if the text names it by its number; else 0 */
    uint64_t process_bytes;     /* held by other processes that the text lists */
    uint64_t unexplained_bytes;
    uint64_t excess_bytes;
    uint64_t slack_bytes; /* the sizes are rounded: the sum may be off by this much */
};

struct oom_error {
    const struct oom_entry *entry;
    struct oom_account account;
    enum oom_verdict verdict;
    bool makes_states;  /* the traceback shows that an optimizer was making its first states */
    bool in_foreach;    /* the same, that the foreach implementation of one computed a step */
    bool computes_loss; /* the same, that a loss was computed from logits */
    char sentence[512], next[512]; /* raw bytes: escape them for display */
    char *asker;                   /* label of the call site, or NULL */
};

struct oom_errors {
    struct oom_error *items; /* by line */
    size_t count;
};

bool oom_errors_make(const struct oom_log *log, enum unit unit, struct oom_errors *errors,
                     struct error *err);
void oom_errors_release(struct oom_errors *errors);

/* Fills the account from the sizes of a message. */
void oom_account_make(const struct oom_message *message, struct oom_account *account);
/* The verdict on a message. `in_pinning`: the traceback shows that the CPU's memory was being
 * pinned. */
enum oom_verdict oom_judge_message(const struct oom_message *message,
                                   const struct oom_account *account, bool in_pinning);

#endif
