#include "analysis/shard/choice.h"

#include <stdlib.h>

#include "analysis/shard/room.h"

#define MOST_WALKS ((size_t)1 << 27) /* points times ranks: a second */

/* Copies the tensors of a model, with other rows where these are guesses. False if all are known.
 */
static bool guess_rows(const struct shard_model *model, struct shard_tensor *tensors, bool is_most)
{
    bool is_unknown = false;
    for (size_t i = 0; i < model->tensor_count; i++) {
        tensors[i] = model->tensors[i];
        is_unknown |= tensors[i].rows == 0 || tensors[i].least_rows > 0;
        if (tensors[i].least_rows > 0)
            tensors[i].rows = is_most ? tensors[i].least_rows : 0;
    }
    return is_unknown;
}

/* The range of the peak where rows are unknown. */
static bool find_range(struct shard_row *row, const struct shard_model *model,
                       const struct shard_options *options, struct error *err)
{
    struct shard_model guessed = *model;
    int64_t *const ends[] = {&row->least_bytes, &row->most_bytes};
    bool ok = true;
    guessed.tensors = calloc(model->tensor_count, sizeof(*guessed.tensors));
    if (!guessed.tensors)
        return error_out_of_memory(err);
    for (int i = 0; ok && i < 2 && guess_rows(model, guessed.tensors, i == 1); i++) {
        struct shard_result result;
        ok = shard_predict(&guessed, options, SHARD_FSDP2, false, &result, err);
        if (!ok)
            break;
        *ends[i] = result.peak_bytes;
        shard_result_release(&result);
    }
    free(guessed.tensors);
    return ok;
}

/* How far a reduction that takes no time lowers the peak of a rank. */
static bool find_early(struct shard_row *row, const struct shard_model *model,
                       const struct shard_options *options, struct error *err)
{
    struct shard_options early = *options;
    struct shard_result result;
    int64_t most = 0;
    early.reduces_at_once = true;
    if (!shard_predict(model, &early, SHARD_SDP, true, &result, err))
        return false;
    for (size_t i = 0; i < result.rank_count && i < row->result.rank_count; i++) {
        int64_t less = row->result.ranks[i].peak_bytes - result.ranks[i].peak_bytes;
        if (less <= most)
            continue;
        most = less;
        row->early_rank = result.ranks[i].rank;
        row->early_bytes = result.ranks[i].peak_bytes;
    }
    shard_result_release(&result);
    return true;
}

static bool has_room(const struct shard_choice *choice, const struct shard_row *row)
{
    enum shard_strategy strategy = row->result.strategy;
    int64_t most = row->most_bytes;
    most = row->result.peak_bytes > most ? row->result.peak_bytes : most;
    for (size_t i = 0; i < row->result.rank_count; i++)
        if (row->result.ranks[i].first_peak_bytes > most)
            most = row->result.ranks[i].first_peak_bytes;
    return (uint64_t)most <=
           shard_usable_bytes(strategy, &choice->room, choice->options->batch, choice->gpu_bytes);
}

static bool add_rows(struct shard_choice *choice, const struct shard_model *model,
                     const struct shard_extra *extra, const struct shard_options *options,
                     struct error *err)
{
    bool all = model->point_count + model->tensor_count < MOST_WALKS / (size_t)options->world;
    for (int i = 0; i < SHARD_STRATEGIES; i++) {
        struct shard_row *row = &choice->rows[choice->count];
        *row = (struct shard_row){.is_checkpointed = extra != NULL};
        if (extra)
            row->extra = *extra;
        if (!shard_predict(model, options, (enum shard_strategy)i, all, &row->result, err))
            return false;
        if (i == SHARD_FSDP2 && model->has_tensors && !find_range(row, model, options, err))
            return false;
        if (i == SHARD_SDP && all && !find_early(row, model, options, err))
            return false;
        row->is_known_to_fit = choice->gpu_bytes > 0;
        row->fits = row->is_known_to_fit && (uint64_t)row->result.peak_bytes <= choice->gpu_bytes;
        row->has_room = row->fits && has_room(choice, row);
        choice->count++;
    }
    return true;
}

unsigned shard_preference(enum shard_strategy strategy)
{
    static const unsigned ranks[SHARD_STRATEGIES] = {
        [SHARD_DDP] = 0,   [SHARD_ZERO] = 1,  [SHARD_OSS] = 2,  [SHARD_SDP] = 3,
        [SHARD_FSDP2] = 4, [SHARD_FSDP1] = 5, [SHARD_FSDP] = 6,
    };
    return ranks[strategy];
}

/* Recomputation costs more than traffic; then time or bytes; then the simpler one. */
static bool is_cheaper(const struct shard_row *a, const struct shard_row *b)
{
    int64_t x = shard_traffic_sum(&a->result.traffic), y = shard_traffic_sum(&b->result.traffic);
    if (a->is_checkpointed != b->is_checkpointed)
        return b->is_checkpointed;
    if (a->result.traffic.us != b->result.traffic.us)
        return a->result.traffic.us < b->result.traffic.us;
    if (x != y)
        return x < y;
    return shard_preference(a->result.strategy) < shard_preference(b->result.strategy);
}

bool shard_choice_runs(const struct shard_choice *choice, enum shard_strategy strategy)
{
    return choice->stops[strategy] == SHARD_RUNS;
}

static bool helps(const struct shard_choice *choice, const struct shard_row *row)
{
    bool shards_state_only =
        row->result.strategy == SHARD_ZERO || row->result.strategy == SHARD_OSS;
    return !(choice->is_stateless && shards_state_only) &&
           shard_is_of_use(choice->options, row->result.strategy) &&
           shard_choice_runs(choice, row->result.strategy);
}

static bool find_stops(struct shard_choice *choice, const struct shard_model *model,
                       struct error *err)
{
    for (int i = 0; i < SHARD_STRATEGIES; i++) {
        enum shard_strategy strategy = (enum shard_strategy)i;
        if (!shard_find_stop(model, choice->options, strategy, &choice->stops[i], err) ||
            !shard_divides(model, choice->options, strategy, &choice->divides[i], err))
            return false;
    }
    return true;
}

/* The cheapest that fits, or NULL; with `needs_room`, that has room. */
static const struct shard_row *cheapest(const struct shard_choice *choice, bool needs_room)
{
    const struct shard_row *best = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const struct shard_row *row = &choice->rows[i];
        if ((needs_room ? row->has_room : row->fits) && helps(choice, row) &&
            (!best || is_cheaper(row, best)))
            best = row;
    }
    return best;
}

/* The lowest peak of those that are of use and whose code runs; of equal ones, the cheapest. */
static const struct shard_row *lowest(const struct shard_choice *choice)
{
    const struct shard_row *least = choice->rows;
    for (size_t i = 0; i < choice->count; i++) {
        const struct shard_row *row = &choice->rows[i];
        int64_t more = row->result.peak_bytes - least->result.peak_bytes;
        if (shard_is_of_use(choice->options, row->result.strategy) &&
            shard_choice_runs(choice, row->result.strategy) &&
            (more < 0 || (more == 0 && is_cheaper(row, least))))
            least = row;
    }
    return least;
}

static void recommend(struct shard_choice *choice)
{
    const struct shard_row *fitting = cheapest(choice, false), *best = cheapest(choice, true);
    choice->reason = choice->gpu_bytes == 0               ? SHARD_NO_GPU
                     : !fitting                           ? SHARD_NONE_FITS
                     : !best                              ? SHARD_MOST_ROOM
                     : choice->options->world == 1        ? SHARD_ONLY_RANK
                     : best->result.strategy == SHARD_DDP ? SHARD_SIMPLEST
                                                          : SHARD_LEAST_COST;
    choice->row = (size_t)((best ? best : lowest(choice)) - choice->rows);
    choice->tight = best && best != fitting ? (size_t)(fitting - choice->rows) : choice->count;
}

bool shard_choose(struct shard_choice *choice, const struct shard_model *model,
                  const struct shard_model *checkpointed, const struct shard_extra *extra,
                  const struct shard_options *options, uint64_t gpu_bytes, struct error *err)
{
    *choice = (struct shard_choice){.gpu_bytes = gpu_bytes,
                                    .options = options,
                                    .optimizer = options->optimizer,
                                    .mixes_units = shard_model_mixes(model)};
    bool ok = find_stops(choice, model, err) &&
              shard_room_find(&choice->room, model, options, err) &&
              add_rows(choice, model, NULL, options, err) &&
              (!checkpointed || add_rows(choice, checkpointed, extra, options, err));
    if (!ok) {
        shard_choice_release(choice);
        return false;
    }
    choice->is_stateless =
        shard_choice_row(choice, SHARD_DDP)->result.ranks[0].held_state_bytes == 0;
    recommend(choice);
    return true;
}

void shard_choice_release(struct shard_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        shard_result_release(&choice->rows[i].result);
    choice->count = 0;
}

const struct shard_row *shard_choice_row(const struct shard_choice *choice,
                                         enum shard_strategy strategy)
{
    for (size_t i = 0; i < choice->count; i++)
        if (choice->rows[i].result.strategy == strategy && !choice->rows[i].is_checkpointed)
            return &choice->rows[i];
    return choice->rows;
}
