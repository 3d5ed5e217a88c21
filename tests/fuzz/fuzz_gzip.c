/* libFuzzer entry: any bytes after gzip's magic, read to the end through the source. */
#include <stdlib.h>
#include <string.h>

#include "decode/core/source.h"

#define MOST_BYTES ((uint64_t)16 << 20) /* a bomb need not be read to its end */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (size_t)1 << 20};
    struct error err;
    struct source source;
    uint8_t *bytes = malloc(size + 2);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, "\x1f\x8b", 2);
    memcpy(bytes + 2, data, size);
    if (source_open_memory(&source, bytes, size + 2, &budget, &err)) {
        while (source_fill(&source, 1, &err) && source.pos < source.end &&
               source_offset(&source) < MOST_BYTES)
            source.pos = source.end;
        source_close(&source);
    }
    free(bytes);
    if (budget.used != 0)
        __builtin_trap();
    return 0;
}
