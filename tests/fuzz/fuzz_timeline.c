/* libFuzzer entry: any bytes as a memory timeline of torch.profiler, under a small memory budget.
 */
#include "decode/timeline/timeline.h"
#include "fuzz/ignore_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_and_ignore(decode_timeline_snapshot, data, size);
    return 0;
}
