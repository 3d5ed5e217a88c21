/* libFuzzer entry: any bytes as a log. */
#include <stdlib.h>

#include "analysis/oom/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parts of the device sum to it, or to more by the excess that is told. */
static void check_sum(const struct oom_account *account)
{
    unsigned __int128 sum = account->used_bytes;
    sum += account->private_bytes;
    sum += account->unallocated_bytes;
    sum += account->own_bytes;
    sum += account->process_bytes;
    sum += account->free_bytes;
    sum += account->unexplained_bytes;
    unsigned __int128 most = account->total_bytes;
    most += account->excess_bytes + account->slack_bytes;
    if (sum < account->total_bytes || (sum > most && account->excess_bytes < UINT64_MAX / 2))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err;
    struct input input;
    struct oom_errors errors;
    if (!input_from_memory(&input, data, size, (size_t)8 << 20, &err))
        return 0;
    struct oom_log *log = oom_log_load_input(&input, &err);
    if (!log)
        return 0;
    if (oom_errors_make(log, UNIT_AUTO, &errors, &err)) {
        for (size_t i = 0; i < errors.count; i++)
            check_sum(&errors.items[i].account);
        oom_errors_release(&errors);
    }
    oom_log_destroy(log);
    return 0;
}
