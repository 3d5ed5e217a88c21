#include <inttypes.h>

#include "render/core/rows.h"
#include "render/core/table.h"
#include "render/shard/shard.h"
#include "render/shard/stops.h"
#include "render/shard/words.h"

#define SCHEMA    "memsnap.shard/1"
#define MOST_ROWS 16 /* of a text table: else every power of two, and the last */

static const char *strategy_name(unsigned strategy)
{
    return shard_strategy_name((enum shard_strategy)strategy);
}

#define ROW struct shard_sweep_row
static const struct row_type row_type =
    ROW_TYPE("sweep", ROW, FIELD_AS(ROW, NAME, "name", strategy, .name = strategy_name),
             FIELD(ROW, NUMBER, world), FIELD(ROW, NUMBER, largest_batch),
             FIELD(ROW, FLAG, is_last), FIELD(ROW, BYTES, peak_bytes),
             FIELD(ROW, BYTES, traffic_bytes), FIELD_AS(ROW, FLAG, "checkpointed", is_checkpointed),
             FIELD(ROW, NUMBER, group), FIELD(ROW, FLAG, runs), FIELD(ROW, FLAG, is_of_use));
#undef ROW

static bool is_shown(const struct shard_sweep *sweep, size_t world)
{
    uint64_t value = fit_value(sweep->worlds, world), first = fit_value(sweep->worlds, 0);
    uint64_t times = value / first;
    bool is_power = value % first == 0 && (times & (times - 1)) == 0;
    return sweep->worlds->count <= MOST_ROWS || is_power || world + 1 == sweep->worlds->count;
}

/* `first`: of the rows of a number of ranks. */
static void add_row(struct table *table, const struct shard_sweep *sweep, size_t world,
                    size_t first)
{
    char text[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, fit_value(sweep->worlds, world));
    table_add(table, text);
    for (size_t i = 0; i < SHARD_STRATEGIES; i++) {
        const struct shard_sweep_row *row = &sweep->rows[world * sweep->each + first + i];
        snprintf(text, sizeof(text), "%" PRIu64 "%s", row->largest_batch, row->is_last ? "+" : "");
        table_add(table, row->largest_batch > 0 && row->runs && row->is_of_use ? text : "-");
    }
}

/* DDP, the first, always runs and is of use. */
static const struct shard_sweep_row *best_of(const struct shard_sweep *sweep)
{
    const struct shard_sweep_row *best = sweep->rows;
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->rows[i].runs && sweep->rows[i].is_of_use &&
            sweep->rows[i].largest_batch > best->largest_batch)
            best = &sweep->rows[i];
    return best;
}

/* Of oss and sdp it may depend on the number of ranks. */
static bool put_stops(const struct page *page, const struct shard_sweep *sweep)
{
    bool stops[SHARD_STRATEGIES] = {false}, any = false;
    for (size_t i = 0; i < sweep->count; i++) {
        stops[sweep->rows[i].strategy] |= !sweep->rows[i].runs;
        any |= !sweep->rows[i].runs;
    }
    if (!any)
        return true;
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, "The code of ");
    shard_add_names(&text, stops);
    buffer_puts(&text, " would stop; without --sweep the report tells why.");
    bool ok = !text.failed;
    if (ok)
        page_paragraph(page, 0, 0, text.bytes);
    buffer_release(&text);
    return ok;
}

static void put_best(const struct page *page, const struct shard_sweep *sweep)
{
    const struct shard_sweep_row *best = best_of(sweep);
    const char *name = shard_row_name(best->strategy, (int64_t)best->world);
    char text[200], size[UNITS_TEXT_SIZE];
    if (best->largest_batch == 0)
        snprintf(text, sizeof(text), "Nothing fits.");
    else
        snprintf(text, sizeof(text),
                 "The largest batch is %" PRIu64 " times the recorded one: %s%s on %" PRIu64
                 " rank%s, with a peak of %s.",
                 best->largest_batch, name, best->is_checkpointed ? " with checkpoints" : "",
                 best->world, best->world == 1 ? "" : "s",
                 page_bytes(page, size, best->peak_bytes));
    fputc('\n', page->out);
    page_paragraph(page, 0, 0, text);
}

static bool put_table(const struct page *page, const struct shard_sweep *sweep, size_t first)
{
    struct table_column columns[SHARD_STRATEGIES + 1] = {{"ranks", COLUMN_NUMBER, 0, 0, 0}};
    struct table table;
    for (size_t i = 0; i < SHARD_STRATEGIES; i++)
        columns[i + 1] = (struct table_column){shard_strategy_name((enum shard_strategy)i),
                                               COLUMN_NUMBER, 0, 0, 0};
    table_init(&table, columns, SHARD_STRATEGIES + 1);
    for (size_t i = 0; i < sweep->worlds->count; i++)
        if (is_shown(sweep, i))
            add_row(&table, sweep, i, first);
    bool ok = !table_failed(&table);
    if (ok)
        table_print(&table, page, 0);
    table_release(&table);
    return ok;
}

bool shard_sweep_text(const struct page *page, const struct shard_sweep *sweep)
{
    char text[240], size[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text),
             "The largest batch that fits into %s, with room for the CUDA context and "
             "fragmentation, as a multiple of the recorded one (-: none, +: the last value tried)",
             page_size(page, size, sweep->gpu_bytes));
    page_paragraph(page, 0, 0, text);
    fputc('\n', page->out);
    bool ok = put_table(page, sweep, 0);
    if (sweep->each > SHARD_STRATEGIES) {
        fputs("\nWith checkpoints\n\n", page->out);
        ok = ok && put_table(page, sweep, SHARD_STRATEGIES);
    }
    put_best(page, sweep);
    if (sweep->lacks_checkpoints)
        page_paragraph(page, 0, 0,
                       "Checkpoints are not predicted: the snapshot does not tell which modules "
                       "the code wraps. A layer trace has the modules.");
    if (fit_value(sweep->worlds, 0) == 1)
        page_paragraph(page, 0, 0,
                       "One rank has nothing to share: ddp is the plain program there.");
    return ok && put_stops(page, sweep);
}

bool shard_sweep_json(FILE *out, const struct shard_sweep *sweep)
{
    const struct field_context context = {0};
    const struct shard_sweep_row *best = best_of(sweep);
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_count(&json, "gpu_bytes", sweep->gpu_bytes);
    json_put_rows(&json, &row_type, sweep->rows, sweep->count, &context);
    if (best->largest_batch > 0)
        json_put_row(&json, "best", &row_type, best, &context);
    else
        json_put_null(&json, "best");
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}

bool shard_sweep_csv(FILE *out, const struct shard_sweep *sweep, struct error *err)
{
    const struct field_context context = {0};
    struct record_writer records;
    if (!records_begin(&records, out, RECORDS_CSV, &row_type, err))
        return false;
    for (size_t i = 0; i < sweep->count; i++) {
        if (!record_put_row(&records, &sweep->rows[i], &context, err)) {
            records_release(&records);
            return false;
        }
    }
    return records_end(&records, err);
}
