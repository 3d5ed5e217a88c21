#include "commands/check/pairs.h"

#include <stdlib.h>

static size_t count_rank(const int64_t *ranks, size_t count, int64_t rank, size_t *last)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank) {
            *last = i;
            found++;
        }
    return found;
}

static struct baseline_pair pair_of(int64_t rank, size_t files_of_rank, const int64_t *baselines,
                                    size_t count)
{
    struct baseline_pair pair = {.baseline = PAIR_NONE};
    size_t found = rank < 0 ? 0 : count_rank(baselines, count, rank, &pair.baseline);
    if (rank < 0)
        error_set(&pair.err, STATUS_USAGE,
                  "cannot find its baseline: its rank is not known (see --rank-pattern)");
    else if (found == 0)
        error_set(&pair.err, STATUS_USAGE, "the baseline has no capture of rank %lld",
                  (long long)rank);
    else if (found > 1)
        error_set(&pair.err, STATUS_USAGE, "the baseline has %zu captures of rank %lld", found,
                  (long long)rank);
    else if (files_of_rank > 1)
        error_set(&pair.err, STATUS_USAGE,
                  "%zu files are of rank %lld, of which the baseline has one capture",
                  files_of_rank, (long long)rank);
    else
        return pair;
    pair.baseline = PAIR_NONE;
    return pair;
}

bool baseline_pairs_make(struct baseline_pair *pairs, const struct inputs *files,
                         const struct inputs *baselines, const struct file_choice *choice,
                         struct error *err)
{
    int64_t *of_files = calloc(files->count + 1, sizeof(*of_files));
    int64_t *of_baselines = calloc(baselines->count + 1, sizeof(*of_baselines));
    bool ok = (of_files && of_baselines) || error_out_of_memory(err);
    ok = ok && paths_ranks(files->paths, files->count, choice, of_files, err) &&
         paths_ranks(baselines->paths, baselines->count, choice, of_baselines, err);
    for (size_t i = 0; ok && i < files->count; i++) {
        size_t last, alike = count_rank(of_files, files->count, of_files[i], &last);
        pairs[i] = pair_of(of_files[i], alike, of_baselines, baselines->count);
    }
    free(of_files);
    free(of_baselines);
    return ok;
}
