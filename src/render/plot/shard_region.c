/* Which strategy fits for how many ranks and how large a batch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shard/choice.h"
#include "base/units.h"
#include "render/plot/legend.h"
#include "render/plot/shard_internal.h"
#include "render/shard/words.h"

#define STRATEGIES_MOST 16 /* each without and with checkpoints */
#define LOGARITHMIC     8  /* ratio of the last to the first number of ranks */

/* The first six colours are for strategies, the next six for the same strategies with checkpoints.
 */
static const unsigned colours[] = {0x0072B2, 0x56B4E9, 0x009E73, 0xE69F00, 0xCC79A7,
                                   0xD55E00, 0x6699CC, 0xA6D8F5, 0x66C2A5, 0xF6C765,
                                   0xE3B7CF, 0xF0A070, 0x332288, 0x882255};

struct region {
    const struct shard_file *file;
    /* a row of each strategy, in the order of the file */
    const struct shard_file_row *names[STRATEGIES_MOST];
    size_t names_count;
    bool is_shown[STRATEGIES_MOST]; /* some box has its colour */
    const struct shard_file_row *
        *rows; /* by ranks, then by traffic, then in the order of the file */
    bool is_logarithmic;
    double y_top;
};

static bool is_same_strategy(const struct shard_file_row *a, const struct shard_file_row *b)
{
    return strcmp(a->name, b->name) == 0 && a->is_checkpointed == b->is_checkpointed;
}

static size_t name_of(const struct region *region, const struct shard_file_row *row)
{
    size_t i = 0;
    while (i < region->names_count && !is_same_strategy(region->names[i], row))
        i++;
    return i;
}

static unsigned colour_of(size_t name)
{
    return colours[name % (sizeof(colours) / sizeof(colours[0]))];
}

static bool find_names(struct region *region, struct error *err)
{
    for (size_t i = 0; i < region->file->count; i++) {
        const struct shard_file_row *row = &region->file->rows[i];
        if (row->world == 0)
            return error_set(err, STATUS_BAD_INPUT, "expected a number of ranks of at least 1");
        if (name_of(region, row) < region->names_count)
            continue;
        if (region->names_count == STRATEGIES_MOST)
            return error_set(err, STATUS_LIMIT, "more than %d strategies to plot", STRATEGIES_MOST);
        region->names[region->names_count++] = row;
    }
    return true;
}

/* Strategies that this version does not know come last. */
static unsigned preference(const struct shard_file_row *row)
{
    for (int i = 0; i < SHARD_STRATEGIES; i++)
        if (strcmp(shard_strategy_name((enum shard_strategy)i), row->name) == 0)
            return shard_preference((enum shard_strategy)i);
    return SHARD_STRATEGIES;
}

static int by_ranks(const void *a, const void *b)
{
    const struct shard_file_row *x = *(const struct shard_file_row *const *)a;
    const struct shard_file_row *y = *(const struct shard_file_row *const *)b;
    if (x->world != y->world)
        return x->world < y->world ? -1 : 1;
    if (x->is_checkpointed != y->is_checkpointed) /* recomputation costs more than traffic */
        return x->is_checkpointed ? 1 : -1;
    if (x->traffic_bytes != y->traffic_bytes)
        return x->traffic_bytes < y->traffic_bytes ? -1 : 1;
    if (preference(x) != preference(y))
        return preference(x) < preference(y) ? -1 : 1;
    return (x > y) - (x < y);
}

static const struct shard_file_row *best_of(const struct region *region)
{
    const struct shard_file_row *best = region->rows[0];
    for (size_t i = 0; i < region->file->count; i++)
        if (region->rows[i]->largest_batch > best->largest_batch)
            best = region->rows[i];
    return best;
}

/* The first row behind those of the same number of ranks. */
static size_t end_of_world(const struct region *region, size_t first)
{
    size_t end = first;
    while (end < region->file->count && region->rows[end]->world == region->rows[first]->world)
        end++;
    return end;
}

/* The numbers of ranks before and after that of a row; where there is none, as if there were one.
 * gnuplot draws the edges of boxes in the middle between them. */
static double world_before(const struct region *region, size_t row)
{
    double at = (double)region->rows[row]->world;
    size_t before = row;
    while (before > 0 && region->rows[before]->world == region->rows[row]->world)
        before--;
    if (region->rows[before]->world == region->rows[row]->world)
        return region->is_logarithmic ? at / 2 : at - 1;
    return (double)region->rows[before]->world;
}

static double world_after(const struct region *region, size_t row)
{
    double at = (double)region->rows[row]->world;
    size_t next = end_of_world(region, row);
    if (next == region->file->count)
        return region->is_logarithmic ? at * 2 : at + 1;
    return (double)region->rows[next]->world;
}

/* What fits for one number of ranks: the strategy that sends least up to the batch that fits under
 * it, above that the next one. */
struct column {
    size_t count, names[STRATEGIES_MOST];
    uint64_t tops[STRATEGIES_MOST];
};

static struct column column_of(const struct region *region, size_t first, size_t end)
{
    struct column stack = {.count = 0};
    uint64_t top = 0;
    for (size_t i = first; i < end && stack.count < STRATEGIES_MOST; i++) {
        if (region->rows[i]->largest_batch <= top)
            continue;
        top = region->rows[i]->largest_batch;
        stack.names[stack.count] = name_of(region, region->rows[i]);
        stack.tops[stack.count++] = top;
    }
    return stack;
}

static bool is_same(const struct column *a, const struct column *b)
{
    return a->count == b->count &&
           memcmp(a->names, b->names, a->count * sizeof(a->names[0])) == 0 &&
           memcmp(a->tops, b->tops, a->count * sizeof(a->tops[0])) == 0;
}

static void put_column(struct region *region, FILE *out, const struct column *stack, size_t first,
                       size_t last)
{
    uint64_t from = 0;
    for (size_t k = 0; k < stack->count; k++) {
        region->is_shown[stack->names[k]] = true;
        fprintf(out, "%" PRIu64 "\t%.9g\t%" PRIu64 "\t%.9g\t%" PRIu64 "\t%" PRIu64 "\t%u\n",
                region->rows[first]->world, world_before(region, first), region->rows[last]->world,
                world_after(region, last), from, stack->tops[k], colour_of(stack->names[k]));
        from = stack->tops[k];
    }
}

/* Neighbours with the same stack share boxes. */
static void write_boxes(struct region *region, FILE *out)
{
    size_t first = 0, end = end_of_world(region, 0);
    struct column stack = column_of(region, first, end);
    fputs("# first\tbefore it\tlast\tafter it\tbottom\ttop\tcolour\n", out);
    while (end < region->file->count) {
        size_t next = end_of_world(region, end);
        struct column beside = column_of(region, end, next);
        if (!is_same(&stack, &beside)) {
            put_column(region, out, &stack, first, end - 1);
            first = end;
            stack = beside;
        }
        end = next;
    }
    put_column(region, out, &stack, first, end - 1);
    shard_put_hidden(out);
}

/* A block for each strategy: ranks, largest batch, colour. */
static void write_curves(const struct region *region, FILE *script, FILE *out)
{
    fprintf(script, "curves = %zu\narray name[%zu]\n", region->names_count, region->names_count);
    fputs("# ranks\tlargest batch\tcolour; a block for each strategy\n", out);
    for (size_t k = 0; k < region->names_count; k++) {
        fprintf(script, "name[%zu] = '%s%s'\n", k + 1, region->names[k]->name,
                region->names[k]->is_checkpointed ? "+c" : "");
        for (size_t i = 0; i < region->file->count; i++)
            if (name_of(region, region->rows[i]) == k)
                fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t%u\n", region->rows[i]->world,
                        region->rows[i]->largest_batch, colour_of(k));
        fputs("\n\n", out);
    }
}

static void write_best(const struct region *region, FILE *script, FILE *out)
{
    const struct shard_file_row *best = best_of(region);
    char text[PLOT_TEXT + 1], size[UNITS_TEXT_SIZE];
    double first = (double)region->rows[0]->world;
    double last = (double)region->rows[region->file->count - 1]->world, at = (double)best->world;
    bool is_left = region->is_logarithmic ? at * at > first * last : at > (first + last) / 2;
    if (best->largest_batch == 0)
        snprintf(text, sizeof(text), "nothing fits");
    else
        snprintf(text, sizeof(text),
                 "largest: %s%" PRIu64 " times the batch, %s%s on %" PRIu64 " rank%s, %s",
                 best->is_last ? "at least " : "", best->largest_batch,
                 shard_name_on(best->name, best->world),
                 best->is_checkpointed ? " with checkpoints" : "", best->world,
                 best->world == 1 ? "" : "s",
                 units_bytes(size, (int64_t)best->peak_bytes, UNIT_AUTO));
    plot_put_text(script, "best_text", text, PLOT_TEXT);
    fprintf(script, "best_left = %d\nbest_x = %.9g\nbest_y = %.9g\n", is_left, at,
            (double)best->largest_batch);
    fprintf(out, "# ranks\tbatch\n%" PRIu64 "\t%" PRIu64 "\n", best->world, best->largest_batch);
}

static void write_words(const struct plot_job *job, struct region *region)
{
    struct plot_legend legend = {.count = 0};
    char subtitle[160], note[160], size[UNITS_TEXT_SIZE];
    FILE *script = job->files[SHARD_SCRIPT];
    for (size_t i = 0; i < region->names_count; i++)
        if (region->is_shown[i])
            plot_legend_add(&legend, colour_of(i), region->names[i]->name,
                            region->names[i]->is_checkpointed ? " + checkpoints" : "");
    plot_legend_put(script, &legend, job->request->look.height);
    snprintf(subtitle, sizeof(subtitle),
             "The strategy that sends the fewest bytes, of those that fit into %s",
             units_bytes(size, (int64_t)region->file->gpu_bytes, UNIT_AUTO));
    snprintf(note, sizeof(note), "white: nothing fits%s%s",
             region->rows[0]->world == 1 ? "; on 1 rank, ddp is " : "",
             region->rows[0]->world == 1 ? shard_row_name(SHARD_DDP, 1) : "");
    plot_put_words(script, &job->request->look, shard_margins, subtitle, note);
}

static bool draw(const struct plot_job *job, struct region *region, struct error *err)
{
    FILE *script = job->files[SHARD_SCRIPT];
    if (!find_names(region, err))
        return false;
    for (size_t i = 0; i < region->file->count; i++)
        region->rows[i] = &region->file->rows[i];
    qsort(region->rows, region->file->count, sizeof(*region->rows), by_ranks);
    size_t last = region->file->count - 1;
    region->is_logarithmic = region->rows[last]->world / region->rows[0]->world >= LOGARITHMIC;
    uint64_t most = best_of(region)->largest_batch;
    fprintf(script, "is_logarithmic = %d\ny_top = %.9g\n", region->is_logarithmic,
            (double)(most > 0 ? most : 1) * 1.12);
    fprintf(script, "before_first = %.9g\nfirst = %.9g\nlast = %.9g\nafter_last = %.9g\n",
            world_before(region, 0), (double)region->rows[0]->world,
            (double)region->rows[last]->world, world_after(region, last));
    write_boxes(region, job->files[SHARD_BOXES]);
    write_curves(region, script, job->files[SHARD_CURVES]);
    write_best(region, script, job->files[SHARD_POINTS]);
    write_words(job, region);
    return true;
}

bool shard_region_draw(const struct plot_job *job, const struct shard_file *file, struct error *err)
{
    struct region region = {.file = file};
    region.rows = calloc(file->count, sizeof(*region.rows));
    if (!region.rows)
        return error_out_of_memory(err);
    bool ok = draw(job, &region, err);
    free(region.rows);
    return ok;
}
