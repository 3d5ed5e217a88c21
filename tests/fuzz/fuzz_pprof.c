/* libFuzzer entry: any bytes as a memory profile in pprof's format, under a small memory budget.
 */
#include "decode/pprof/pprof.h"
#include "fuzz/ignore_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_and_ignore(decode_pprof_snapshot, data, size);
    return 0;
}
