#include "analysis/oom/shared_words.h"

void say_held_outside(const struct words *words)
{
    say(words, " are held by other processes, or by this one outside of PyTorch's allocator (CUDA "
               "context, NCCL, other libraries)");
}

void say_too_large(const struct words *words, uint64_t requested_bytes, uint64_t device_bytes)
{
    say(words, "the request of %s is larger than the device's whole memory of %s",
        SIZE(requested_bytes), SIZE(device_bytes));
}

void say_set_expandable(const struct words *words, const char *variable, const char *when)
{
    say(words, "set %s=expandable_segments:True %s", variable, when);
}

void say_share_pool(const struct words *words)
{
    say(words, "let the CUDA graphs share one pool (torch.cuda.graph(..., pool=...)), or delete "
               "graphs that are no longer needed");
}

bool say_next_by_verdict(const struct words *words, enum oom_verdict verdict, const char *monitor)
{
    const char *next = NULL;
    switch (verdict) {
    case OOM_PROCESS_LIMIT:
        next = "raise the limit set by torch.cuda.set_per_process_memory_fraction() or by the "
               "setting per_process_memory_fraction";
        break;
    case OOM_OTHER_PROCESS:
        say(words, "use %s to find other processes on the device, and stop or move them", monitor);
        return true;
    case OOM_TOO_LARGE:
        next = "check the sizes of the tensor: a wrong shape or a broadcast is the usual cause";
        break;
    default:
        return false;
    }
    say(words, "%s", next);
    return true;
}
