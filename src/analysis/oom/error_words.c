#include "analysis/oom/error_words.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/oom/shared_words.h"
#include "analysis/oom/source_words.h"

#define MUCH_UNUSED 4 /* one 4th of what is in use: a setting alone is worth as much */
#define BLOCK_LIMIT "; Intel's drivers refuse blocks of 4 GiB and more by default"
#define SMALLER_BLOCKS                                                                             \
    "use smaller tensors (a smaller batch), or set UR_L0_USE_RELAXED_ALLOCATION_LIMITS=1 before "  \
    "the program starts"

/* The name of the environment variable that has the allocator's settings. */
static const char *settings_variable(const struct oom_message *message)
{
    if (strcmp(message->backend, "CUDA") == 0)
        return CUDA_ALLOC_CONF;
    if (strcmp(message->backend, "HIP") == 0)
        return "PYTORCH_HIP_ALLOC_CONF";
    if (strcmp(message->backend, "NPU") == 0)
        return "PYTORCH_NPU_ALLOC_CONF";
    return "PYTORCH_ALLOC_CONF";
}

/* ROCm's functions have CUDA's names in PyTorch. */
static const char *settings_time(const struct oom_message *message)
{
    bool has_cuda = strcmp(message->backend, "CUDA") == 0 || strcmp(message->backend, "HIP") == 0;
    return has_cuda ? BEFORE_CUDA : "before the program starts";
}

const char *oom_monitor(const struct oom_message *message)
{
    static const char *const tools[][2] = {
        {"HIP", "rocm-smi"}, {"XPU", "xpu-smi"}, {"NPU", "npu-smi"}};
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (strcmp(message->backend, tools[i][0]) == 0)
            return tools[i][1];
    return "nvidia-smi";
}

static bool is_metal(const struct oom_message *message)
{
    return strcmp(message->backend, "MPS") == 0;
}

/* True if the block may be too large for the driver. Intel's drivers by default refuse blocks of 4
 * GiB and more, however much is free. */
static bool may_exceed_block(const struct oom_message *message)
{
    return strcmp(message->backend, "XPU") == 0 &&
           message->requested.bytes + message->requested.slack >= UINT64_C(4) << 30;
}

/* Says "other processes hold 11.25 GiB, this process holds 1.02 GiB outside of PyTorch's
 * allocator". */
static void say_holders(const struct words *words, const struct oom_account *account)
{
    const char *separator = "";
    if (account->process_bytes > 0) {
        say(words, "other processes hold %s", SIZE(account->process_bytes));
        separator = ", ";
    }
    if (account->own_bytes > 0) {
        say(words, "%sthis process holds %s outside of PyTorch's allocator", separator,
            SIZE(account->own_bytes));
        separator = ", ";
    }
    if (account->unexplained_bytes <= account->slack_bytes)
        return;
    say(words, "%s%s", separator, SIZE(account->unexplained_bytes));
    if (account->own_is_known)
        say(words, " are not accounted for");
    else
        say_held_outside(words);
}

static void say_limit(const struct words *words, const struct oom_message *message)
{
    if (message->reserve.is_stated)
        say(words,
            "the setting expandable_segments_reserve gives a segment %s of address space, and one "
            "request cannot span two segments",
            SIZE(message->reserve.bytes));
    else if (is_metal(message) && message->other.is_stated)
        say(words,
            "PyTorch's limit for this GPU is %s, and of that this process already holds %s "
            "in PyTorch's allocator and %s in other allocations",
            SIZE(message->allowed.bytes), SIZE(message->allocated.bytes),
            SIZE(message->other.bytes));
    else if (message->allowed.is_stated)
        say(words,
            "the device had %s free, but a memory limit on this process allows PyTorch only %s in "
            "all",
            SIZE(message->free.bytes), SIZE(message->allowed.bytes));
    else
        say(words,
            "a memory limit on this process refused the request of %s before the device was "
            "asked",
            SIZE(message->requested.bytes));
}

static void say_shortage(const struct words *words, const struct oom_message *message,
                         const struct oom_account *account)
{
    uint64_t unused = account->unallocated_bytes + account->private_bytes;
    say(words, "a true shortage: PyTorch uses %s, and the %s free on the device",
        SIZE(account->used_bytes), SIZE(account->free_bytes));
    if (unused > 0)
        say(words, " plus %s unused in segments", SIZE(unused));
    say(words, " are too little for %s", SIZE(message->requested.bytes));
}

/* Says that some sizes are missing in the text. */
static void say_incomplete(const struct words *words, const struct oom_message *message)
{
    bool is_free_stated = message->free.is_stated && message->total.is_stated;
    if (!message->allocated.is_stated && is_free_stated)
        say(words,
            "%s of the device's %s were free; the rest of the text, which says what PyTorch held, "
            "is missing",
            SIZE(message->free.bytes), SIZE(message->total.bytes));
    else if (!message->allocated.is_stated)
        say(words, "the text does not say what was free or in use");
    else if (!message->total.is_stated)
        say(words, "PyTorch used %s, and the text does not say what was free",
            SIZE(message->allocated.bytes));
    else
        say(words, "PyTorch used %s of the device's %s, and the text does not say what was free",
            SIZE(message->allocated.bytes), SIZE(message->total.bytes));
    if (may_exceed_block(message))
        say(words, BLOCK_LIMIT);
}

/* Says that the sizes do not tell why the request failed, or that there are none. */
static void say_unknown(const struct words *words, const struct oom_message *message,
                        const struct oom_account *account)
{
    if (message->source == OOM_SOURCE_LIBRARY)
        say(words,
            "%s could not allocate its own memory on the device, outside of PyTorch's "
            "allocator, which may have reserved all of it",
            *message->backend ? message->backend : "a library");
    else if (message->source == OOM_SOURCE_DRIVER)
        say(words, "the driver refused memory outside of PyTorch's caching allocator: for a "
                   "context, for the code of kernels, or for pinned memory of the CPU");
    else if (message->is_custom_pool)
        say(words, "the custom allocator of a torch.cuda.MemPool returned no memory");
    else if (!account->is_known)
        say_incomplete(words, message);
    else if (may_exceed_block(message))
        say(words, "the device had %s free, which was enough" BLOCK_LIMIT,
            SIZE(account->free_bytes));
    else
        say(words, "the device had %s free, which was enough: %s", SIZE(account->free_bytes),
            message->is_expandable
                ? "the process ran out of address space for expandable segments, or another "
                  "process released memory after the request failed"
                : "another process released memory after the request failed, or the driver limits "
                  "this process");
}

static void say_sentence(const struct words *words, const struct oom_error *error)
{
    const struct oom_message *message = &error->entry->message;
    const struct oom_account *account = &error->account;
    if (oom_source_say(words, message))
        return;
    switch (error->verdict) {
    case OOM_SHORTAGE:
        say_shortage(words, message, account);
        break;
    case OOM_FRAGMENTATION:
        say(words,
            "fragmentation: %s free %s and %s reserved but unallocated would be enough "
            "together, but the latter lie in holes that are too small, or belong to other streams",
            SIZE(account->within_bytes),
            account->within_bytes < account->free_bytes ? "within the limit on this process"
                                                        : "on the device",
            SIZE(account->unallocated_bytes));
        break;
    case OOM_OTHER_POOL:
        say(words,
            "memory is free, but this request cannot use it: %s lie unused in private pools, such "
            "as those of CUDA graphs",
            SIZE(account->private_bytes));
        break;
    case OOM_OTHER_PROCESS:
        say(words, "PyTorch does not hold the missing memory: of the device's %s, ",
            SIZE(account->total_bytes));
        say_holders(words, account);
        break;
    case OOM_PROCESS_LIMIT:
        say_limit(words, message);
        break;
    case OOM_TOO_LARGE:
        if (message->source == OOM_SOURCE_HUGE)
            say(words, "the request of more than 1 EiB is impossible");
        else if (message->block_limit.is_stated)
            say(words, "this GPU's driver allocates at most %s in one block",
                SIZE(message->block_limit.bytes));
        else
            say_too_large(words, message->requested.bytes, account->total_bytes);
        break;
    case OOM_HOST:
        say(words, "the CPU's memory ran out, not the device's");
        if (message->source == OOM_SOURCE_DRIVER)
            say(words, ": the traceback shows that memory was being pinned");
        break;
    case OOM_ON_CHIP: /* said above */
        break;
    case OOM_UNKNOWN:
        say_unknown(words, message, account);
        break;
    }
}

static void say_next_unknown(const struct words *words, const struct oom_message *message,
                             const struct oom_account *account)
{
    if (message->is_custom_pool)
        say(words, "look for messages of that allocator above the error");
    else if (message->source == OOM_SOURCE_LIBRARY || message->source == OOM_SOURCE_DRIVER)
        say(words, "leave memory for others: "
                   "torch.cuda.set_per_process_memory_fraction(0.9) before the first "
                   "allocation, or torch.cuda.empty_cache() before the call that failed");
    else if (account->is_known && message->is_expandable)
        say(words,
            "set %s=expandable_segments:True,expandable_segments_reserve:0.5, and see "
            "whether other processes use the device with %s",
            settings_variable(message), oom_monitor(message));
    else if (may_exceed_block(message))
        say(words, SMALLER_BLOCKS);
    else if (account->is_known)
        say(words, "watch %s while the program runs", oom_monitor(message));
    else
        say(words, "record a snapshot when it happens");
}

/* A request for one of many states: room for it alone only moves the failure. */
static void say_states(const struct words *words)
{
    say(words, "the optimizer was making the states of weights that had none yet, so it needs more "
               "than this request, and a smaller batch does not change that: use states of 8 bits "
               "or an optimizer with fewer or factored states (Adafactor), train fewer weights "
               "(LoRA), or divide the states among ranks (FSDP, ZeroRedundancyOptimizer)");
}

/* Says how much a setting gains. If that is little, the process is full rather than fragmented. */
static void say_room(const struct words *words, const struct oom_error *error)
{
    const struct oom_account *account = &error->account;
    uint64_t unused = account->unallocated_bytes;
    if (unused >= account->used_bytes / MUCH_UNUSED)
        return;
    say(words,
        ". That makes at most %s more usable, beside %s in use: if the program needs more than "
        "this request, use a smaller batch or sequence as well",
        SIZE(unused), SIZE(account->used_bytes));
}

#define LEAST_LOGITS 20 /* one 20th of what is in use; smaller requests of a loss matter little */

static bool is_for_logits(const struct oom_error *error)
{
    return error->computes_loss &&
           error->entry->message.requested.bytes >= error->account.used_bytes / LEAST_LOGITS;
}

/* Advice on what the request is for, if the traceback shows that. */
static bool say_cause(const struct words *words, const struct oom_error *error)
{
    if (error->verdict != OOM_SHORTAGE && error->verdict != OOM_FRAGMENTATION)
        return false;
    if (error->makes_states)
        say_states(words);
    else if (error->in_foreach)
        say(words, AVOID_FOREACH);
    else if (is_for_logits(error))
        say(words, "compute the logits and the loss for a part of the tokens or samples at a "
                   "time, each part under torch.utils.checkpoint if a backward pass follows: the "
                   "request is for what the loss computes from the logits. A backward pass needs "
                   "at least as much again");
    else
        return false;
    return true;
}

static void say_next(const struct words *words, const struct oom_error *error)
{
    const struct oom_message *message = &error->entry->message;
    if (oom_source_say_next(words, message))
        return;
    if (error->verdict == OOM_PROCESS_LIMIT && message->reserve.is_stated) {
        say(words, "raise expandable_segments_reserve in %s, or leave it out",
            settings_variable(message));
        return;
    }
    if (error->verdict == OOM_PROCESS_LIMIT && is_metal(message)) {
        say(words, "use a smaller batch or model, close other programs, or raise the limit "
                   "(PYTORCH_MPS_HIGH_WATERMARK_RATIO, 0.0 for none: the system may then become "
                   "unusable)");
        return;
    }
    if (error->verdict == OOM_TOO_LARGE && message->block_limit.is_stated) {
        say(words, SMALLER_BLOCKS);
        return;
    }
    if (say_next_by_verdict(words, error->verdict, oom_monitor(message)))
        return;
    if (say_cause(words, error))
        return;
    switch (error->verdict) {
    case OOM_SHORTAGE:
        say(words,
            "record a snapshot when it happens, which shows the code that holds the %s; "
            "until then, use a smaller batch",
            SIZE(error->account.used_bytes));
        break;
    case OOM_FRAGMENTATION:
        if (message->is_expandable)
            say(words, "expandable_segments is already on: record a snapshot when it happens, "
                       "which shows the blocks between the holes");
        else if (message->reserved.is_stated)
            say(words,
                "set %s=max_split_size_mb:128 %s, or, with PyTorch 2.1 or newer, "
                "expandable_segments:True",
                settings_variable(message), settings_time(message));
        else
            say_set_expandable(words, settings_variable(message), settings_time(message));
        if (!message->is_expandable)
            say_room(words, error);
        break;
    case OOM_OTHER_POOL:
        say_share_pool(words);
        break;
    case OOM_HOST:
        if (message->source == OOM_SOURCE_HOST)
            say(words, "check the sizes of the tensors on the CPU; a container may have less "
                       "memory than 'free' shows");
        else
            say(words, "use fewer or smaller pinned buffers and DataLoader workers (pin_memory, "
                       "prefetch_factor), or raise the limit of the container or of ulimit -l");
        break;
    case OOM_UNKNOWN:
        say_next_unknown(words, message, &error->account);
        break;
    default:
        break;
    }
}

void oom_error_write_sentences(struct oom_error *error, enum unit unit)
{
    error->sentence[0] = error->next[0] = '\0';
    say_sentence(&(struct words){error->sentence, sizeof(error->sentence), unit}, error);
    say_next(&(struct words){error->next, sizeof(error->next), unit}, error);
}
