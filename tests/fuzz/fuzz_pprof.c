/* libFuzzer entry: any bytes as a memory profile in pprof's format, under a small memory budget.
 */
#include "decode/pprof/pprof.h"
#include "fuzz/ignore_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (size_t)8 << 20};
    struct error err;
    struct source source;
    struct decoded decoded;
    struct symbols *symbols = symbols_create(&budget, &err);

    if (source_open_memory(&source, data, size, &budget, &err)) {
        decode_pprof_snapshot(&source, symbols, &ignore_rows, &decoded, &err);
        source_close(&source);
    }
    symbols_destroy(symbols);
    if (budget.used != 0)
        __builtin_trap();
    return 0;
}
