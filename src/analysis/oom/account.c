#include "analysis/oom/error.h"

/* Adds without overflow: the sizes come from texts, which may state anything. */
static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t subtract(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void take_reserved(const struct oom_message *message, struct oom_account *account)
{
    uint64_t allocated = message->allocated.bytes;
    account->private_bytes =
        message->private_pools.bytes < allocated ? message->private_pools.bytes : allocated;
    account->used_bytes = allocated - account->private_bytes;
    account->unallocated_bytes = message->reserved.is_stated
                                     ? subtract(message->reserved.bytes, allocated)
                                     : message->unallocated.bytes;
    account->reserved_bytes = add(allocated, account->unallocated_bytes);
}

static void take_limit(const struct oom_message *message, struct oom_account *account)
{
    uint64_t allowed = subtract(message->allowed.bytes, account->reserved_bytes);
    account->within_bytes = account->free_bytes;
    if (message->allowed.is_stated && allowed < account->free_bytes)
        account->within_bytes = allowed;
}

/* The process in the list that is this one, or NULL. In a container, PyTorch does not see the
 * numbers of processes, so it takes its own process for another. Then a listed process holds all
 * that PyTorch reserved, and the device is too small to hold that twice. */
static const struct oom_process *find_own(const struct oom_message *message,
                                          const struct oom_account *account)
{
    uint64_t sum = add(account->free_bytes, account->reserved_bytes);
    const struct oom_process *own = NULL;
    for (size_t i = 0; i < message->process_count; i++) {
        const struct oom_process *process = &message->processes[i];
        sum = add(sum, process->used.bytes);
        if (add(process->used.bytes, account->slack_bytes) >= account->reserved_bytes &&
            (!own || process->used.bytes > own->used.bytes))
            own = process;
    }
    return sum > add(account->total_bytes, account->slack_bytes) ? own : NULL;
}

static void take_processes(const struct oom_message *message, struct oom_account *account)
{
    const struct oom_process *own = NULL;
    if (!message->own_process.is_stated && account->reserved_bytes > 0)
        own = find_own(message, account);
    for (size_t i = 0; i < message->process_count; i++)
        if (&message->processes[i] != own)
            account->process_bytes = add(account->process_bytes, message->processes[i].used.bytes);
    account->own_is_known = own || message->own_process.is_stated;
    account->own_pid = own ? own->pid : 0;
    if (account->own_is_known)
        account->own_bytes =
            subtract(own ? own->used.bytes : message->own_process.bytes, account->reserved_bytes);
}

static uint64_t sum_slack(const struct oom_message *message)
{
    uint64_t slack = add(message->total.slack, message->free.slack);
    slack = add(slack, add(message->allocated.slack, message->unallocated.slack));
    slack = add(slack, add(message->reserved.slack, message->own_process.slack));
    for (size_t i = 0; i < message->process_count; i++)
        slack = add(slack, message->processes[i].used.slack);
    return slack;
}

void oom_account_make(const struct oom_message *message, struct oom_account *account)
{
    *account = (struct oom_account){0};
    if (!message->total.is_stated || !message->free.is_stated || !message->allocated.is_stated)
        return;
    account->is_known = true;
    account->total_bytes = message->total.bytes;
    account->free_bytes = message->free.bytes;
    account->slack_bytes = sum_slack(message);
    take_reserved(message, account);
    take_limit(message, account);
    take_processes(message, account);
    account->device_used_bytes = subtract(account->total_bytes, account->free_bytes);
    account->outside_bytes = subtract(account->device_used_bytes, account->reserved_bytes);
    uint64_t parts = add(add(account->free_bytes, account->reserved_bytes),
                         add(account->own_bytes, account->process_bytes));
    account->unexplained_bytes = subtract(account->total_bytes, parts);
    account->excess_bytes = subtract(parts, account->total_bytes);
    if (account->excess_bytes <= account->slack_bytes)
        account->excess_bytes = 0;
}

/* The bytes that other processes hold, as far as the text tells. */
static uint64_t foreign_bytes(const struct oom_account *account)
{
    return account->own_is_known ? account->process_bytes : account->outside_bytes;
}

/* The verdict by the sizes that the caching allocator states. */
static enum oom_verdict judge_sizes(const struct oom_message *message,
                                    const struct oom_account *account)
{
    uint64_t wanted = message->requested.bytes, found = account->free_bytes;
    uint64_t within = account->within_bytes;
    bool is_enough = within >= wanted; /* the limit is then rounded in the text */
    bool is_limited =
        found >= wanted && (is_enough || add(within, account->unallocated_bytes) < wanted);
    if (found >= wanted && !message->allowed.is_stated)
        return wanted > account->total_bytes ? OOM_TOO_LARGE : OOM_UNKNOWN;
    enum oom_verdict verdict = oom_decide(&(struct oom_facts){
        .wanted_bytes = wanted,
        .segment_bytes = is_limited ? 0 : UINT64_MAX,
        .free_bytes = within,
        .pool_bytes = account->unallocated_bytes,
        .unused_is_known = true,
        .unused_bytes = add(account->unallocated_bytes, account->private_bytes),
        .device_bytes = account->total_bytes,
        .other_bytes = account->outside_bytes,
    });
    /* Unallocated memory may belong to other streams. If other processes hold most of the device,
     * that is the more likely reason. */
    uint64_t foreign = foreign_bytes(account);
    if (verdict == OOM_FRAGMENTATION && found < wanted && foreign > account->reserved_bytes &&
        foreign >= wanted)
        return OOM_OTHER_PROCESS;
    return verdict;
}

enum oom_verdict oom_judge_message(const struct oom_message *message,
                                   const struct oom_account *account, bool in_pinning)
{
    switch (message->source) {
    case OOM_SOURCE_HUGE:
    case OOM_SOURCE_BUFFER:
        return OOM_TOO_LARGE;
    case OOM_SOURCE_FRACTION:
        return OOM_PROCESS_LIMIT;
    case OOM_SOURCE_HOST:
    case OOM_SOURCE_WORKER:
    case OOM_SOURCE_SHM:
        return OOM_HOST;
    case OOM_SOURCE_ON_CHIP:
        return OOM_ON_CHIP;
    case OOM_SOURCE_DRIVER:
        return in_pinning ? OOM_HOST : OOM_UNKNOWN;
    case OOM_SOURCE_LIBRARY:
    case OOM_SOURCE_OLD:
    case OOM_SOURCE_FRAMEWORK:
    case OOM_SOURCE_CACHE:
    case OOM_SOURCE_EXIT:
        return OOM_UNKNOWN;
    default:
        if (message->reserve.is_stated || message->other.is_stated)
            return OOM_PROCESS_LIMIT;
        if (message->block_limit.is_stated)
            return OOM_TOO_LARGE;
        if (!account->is_known || message->is_custom_pool)
            return OOM_UNKNOWN;
        return judge_sizes(message, account);
    }
}
