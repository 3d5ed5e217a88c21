/* libFuzzer entry: any bytes as a pickled snapshot, under a small memory budget. The fast path and
 * the general way alone must give the same answer. Two differences are meant, both about what no
 * pickler writes: what the fast path has turned into a frame, a stack or an event at once cannot be
 * changed or used as a dict or list afterwards, and an event it has handed on must reach its trace.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/pickle/vm.h"
#include "fuzz/hash_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct end {
    bool ok;
    struct error err;
    uint64_t rows;
};

static struct end decode(const uint8_t *data, size_t size, bool general_only)
{
    struct budget budget = {.limit = (size_t)32 << 20};
    struct source source;
    struct decoded decoded;
    struct end end = {0};
    struct symbols *symbols = symbols_create(&budget, &end.err);
    struct row_hash rows = {.symbols = symbols};
    const struct row_sink sink = hash_rows(&rows);

    if (source_open_memory(&source, data, size, &budget, &end.err)) {
        end.ok = pickle_snapshot(&source, symbols, &sink, general_only, &decoded, &end.err);
        source_close(&source);
    }
    symbols_destroy(symbols);
    free(rows.stacks);
    if (budget.used != 0)
        __builtin_trap();
    end.rows = rows.hash;
    return end;
}

static bool meant(const struct error *err)
{
    static const char *const texts[] = {
        "a frame",        "a list of frames",    "an event",
        "never finished", "taken off the stack", "goes on after another began"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(err->text, texts[i]) != NULL)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct end fast = decode(data, size, false);
    struct end general = decode(data, size, true);
    if (fast.err.status == STATUS_LIMIT || general.err.status == STATUS_LIMIT)
        return 0; /* they take different amounts of memory */
    if (fast.ok ? !general.ok || fast.rows != general.rows : general.ok && !meant(&fast.err))
        __builtin_trap();
    return 0;
}
