/* Sentences about out-of-memory errors that captures and logs share. */
#ifndef MEMSNAP_ANALYSIS_OOM_SHARED_WORDS_H
#define MEMSNAP_ANALYSIS_OOM_SHARED_WORDS_H

#include "analysis/oom/oom.h"
#include "analysis/oom/sentence.h"

#define CUDA_ALLOC_CONF "PYTORCH_CUDA_ALLOC_CONF"
#define BEFORE_CUDA     "before the first CUDA call"

/* Advice on a request for one of the temporaries of torch.optim's foreach implementation. */
#define AVOID_FOREACH                                                                              \
    "pass fused=True to the optimizer, or foreach=False where it has no fused implementation: "    \
    "the "                                                                                         \
    "request is for one of the temporaries with which the foreach implementation computes a "      \
    "step, "                                                                                       \
    "and more of them follow. A smaller batch does not make them smaller"

/* "... held by other processes, or by this one outside of PyTorch's allocator ..." */
void say_held_outside(const struct words *words);
void say_too_large(const struct words *words, uint64_t requested_bytes, uint64_t device_bytes);

/* Advice, without a full stop. `variable` is the name of the environment variable that holds the
 * allocator's settings; `when`, such as BEFORE_CUDA, is until when it must be set. */
void say_set_expandable(const struct words *words, const char *variable, const char *when);
void say_share_pool(const struct words *words);
/* Says the advice if the verdict alone decides it. False, with nothing said, if it does not.
 * `monitor` is the tool that shows the use of the device. */
bool say_next_by_verdict(const struct words *words, enum oom_verdict verdict, const char *monitor);

#endif
