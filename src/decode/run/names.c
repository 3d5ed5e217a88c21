#include "decode/run/names.h"

#include <string.h>

static const struct {
    const char *prefix, *suffix;
    enum run_file_kind kind;
} names[] = {
    {"rank_", "_memory_stats.yaml", RUN_FILE_STATS},
    {"rank_", "_memory_stats.pickle", RUN_FILE_STATS},
    {"fsdp_mem_rank_", ".log", RUN_FILE_TABLES},
    {"", ".trace.json", RUN_FILE_TRACE},
    {"trace", ".json", RUN_FILE_TRACE},
    {"", ".txt", RUN_FILE_TEXT},
    {"cuda_alloc_rank_", ".pickle", RUN_FILE_SNAPSHOT},
};

enum run_file_kind run_file_kind(const char *path, struct text *middle)
{
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
    struct text name = {begin, strlen(begin)};
    if (text_ends(name, ".gz"))
        name.size -= strlen(".gz");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t prefix = strlen(names[i].prefix), suffix = strlen(names[i].suffix);
        bool needs_middle = names[i].kind != RUN_FILE_TRACE;
        if (name.size < prefix + suffix + needs_middle || !text_starts(name, names[i].prefix) ||
            !text_ends(name, names[i].suffix))
            continue;
        *middle = (struct text){name.bytes + prefix, name.size - prefix - suffix};
        return names[i].kind;
    }
    return RUN_FILE_OTHER;
}

bool run_tables_rank(const char *path, uint32_t *rank)
{
    struct text middle;
    int64_t number;
    if (run_file_kind(path, &middle) != RUN_FILE_TABLES)
        return false;
    const char *bar = memchr(middle.bytes, '_', middle.size);
    if (bar)
        middle.size = (size_t)(bar - middle.bytes);
    if (!text_number(middle, &number) || number < 0 || number >= UINT32_MAX)
        return false;
    *rank = (uint32_t)number;
    return true;
}
