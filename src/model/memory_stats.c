#include "model/memory_stats.h"

#include <stdlib.h>

#include "decode/stats/stats.h"

static bool take_row(void *self, const struct stats_row *row, struct error *err)
{
    struct memory_stats *stats = self;
    return vec_push(stats->rows, stats->count, stats->capacity, stats->budget, err, *row);
}

static bool decode_pickle(struct memory_stats *stats, struct source *source,
                          const struct stats_sink *sink, struct error *err)
{
    struct symbols *symbols = symbols_create(stats->budget, err);
    bool ok = symbols && decode_stats_pickle(source, symbols, sink, &stats->protocol, err);
    symbols_destroy(symbols);
    return ok;
}

static bool decode(struct memory_stats *stats, struct source *source, struct error *err)
{
    const struct stats_sink sink = {stats, take_row};
    if (!sniff_encoding(source, &stats->encoding, err))
        return false;
    if (stats->encoding == ENCODING_JSON)
        return decode_stats_json(source, &sink, err);
    return decode_pickle(stats, source, &sink, err);
}

struct memory_stats *memory_stats_load_input(struct input *input, struct error *err)
{
    struct memory_stats *stats = calloc(1, sizeof(*stats));
    if (!stats) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    stats->budget = input->budget;
    stats->protocol = -1;
    bool ok = decode(stats, &input->source, err);
    stats->compression = input->source.compression;
    input_close(input);
    stats->input_bytes = input->bytes;
    if (ok)
        return stats;
    memory_stats_destroy(stats);
    return NULL;
}

void memory_stats_destroy(struct memory_stats *stats)
{
    if (!stats)
        return;
    vec_free(stats->rows, stats->capacity, sizeof(*stats->rows), stats->budget);
    free(stats->budget);
    free(stats);
}
