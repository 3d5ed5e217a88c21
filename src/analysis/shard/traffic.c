#include "analysis/shard/walk.h"

#define FIRST_BUCKET (INT64_C(1) << 20) /* of DDP */
#define BUCKET       (INT64_C(25) << 20)

static const char *const names[SHARD_COLLECTIVES] = {
    [SHARD_ALL_REDUCE] = "all_reduce",         [SHARD_REDUCE] = "reduce",
    [SHARD_BROADCAST] = "broadcast",           [SHARD_ALL_GATHER] = "all_gather",
    [SHARD_REDUCE_SCATTER] = "reduce_scatter",
};

const char *shard_collective_name(enum shard_collective collective)
{
    return names[collective];
}

int64_t shard_traffic_sum(const struct shard_traffic *traffic)
{
    int64_t sum = 0;
    for (size_t i = 0; i < SHARD_COLLECTIVES; i++)
        sum += traffic->bytes[i];
    return sum;
}

/* What a rank sends in one round of a ring of `ranks` that have `bytes` together. */
static int64_t share(int64_t bytes, int64_t ranks)
{
    return bytes - bytes / ranks;
}

/* Keeps sums within range: of all collectives, and of memory besides. */
#define MOST (INT64_MAX / 64)

/* `times` operations of `bytes` each, in `calls` calls. */
static void add(struct shard_traffic *traffic, enum shard_collective collective, int64_t bytes,
                int64_t times, int64_t calls)
{
    int64_t product;
    if (bytes == 0)
        return;
    if (__builtin_mul_overflow(bytes, times, &product) || product > MOST)
        product = MOST;
    traffic->calls[collective] += times * calls;
    traffic->bytes[collective] += product;
    if (traffic->bytes[collective] > MOST)
        traffic->bytes[collective] = MOST;
}

static int64_t trained_elements(const struct walk *walk, int64_t *tensors)
{
    int64_t elements = 0;
    *tensors = 0;
    for (size_t i = 0; i < walk->model->tensor_count; i++) {
        if (!shard_is_trained(&walk->model->tensors[i]))
            continue;
        elements += walk_elements(walk, &walk->model->tensors[i]);
        ++*tensors;
    }
    return elements;
}

/* DDP fills its buckets with whole gradients, in the order in which backward makes them: one is
 * sent as soon as it has its size or more. Gradients that the step does not make end the last one.
 */
static int64_t ddp_calls(const struct walk *walk, int64_t bytes)
{
    const struct shard_model *model = walk->model;
    int64_t calls = 0, most = FIRST_BUCKET, filled = 0;
    for (size_t i = 0; i < model->point_count; i++) {
        const struct shard_point *point = &model->points[i];
        for (uint32_t k = point->first_tensor; k < point->end_tensor; k++) {
            const struct shard_tensor *tensor = &model->tensors[k];
            filled += tensor->frozen ? 0 : walk_elements(walk, tensor) * walk->gradient_size;
            if (filled < most)
                continue;
            calls++;
            bytes -= filled;
            filled = 0;
            most = BUCKET;
        }
    }
    return calls + (bytes > 0 ? 1 : 0);
}

/* ShardedDataParallel reduces each bucket, of which an owner has one at most, and each gradient
 * that is in none. */
static int64_t sdp_calls(const struct walk *walk)
{
    int64_t bucketed = 0, single = 0;
    for (size_t i = 0; i < walk->model->tensor_count; i++) {
        if (!shard_is_trained(&walk->model->tensors[i]))
            continue;
        bucketed += walk->is_bucketed[i];
        single += !walk->is_bucketed[i];
    }
    return single + (bucketed < walk->options->world ? bucketed : walk->options->world);
}

/* Mean, variance and count. */
#define BATCH_NORM_BUFFERS 3

/* DDP sends buffers of a type in one call; batch norms count their batches in a second type.
 * ShardedDataParallel sends each buffer. How many there are is known of batch norms only. */
static int64_t buffer_calls(const struct walk *walk)
{
    int64_t norms = (int64_t)walk->model->batch_norms;
    if (norms == 0)
        return 1;
    return walk->strategy == SHARD_SDP ? norms * BATCH_NORM_BUFFERS : 2;
}

/* Rank 0 sends the buffers of the model's modules, but only in one of several passes: the others
 * are within no_sync(). */
static void add_buffers(const struct walk *walk, struct shard_traffic *traffic)
{
    const struct shard_model *model = walk->model;
    int64_t buffers =
        model->buffer_bytes - model->average_bytes - model->unknown_bytes - model->beside_bytes;
    add(traffic, SHARD_BROADCAST, share(buffers, walk->options->world), 1, buffer_calls(walk));
}

static void replicated(const struct walk *walk, struct shard_traffic *traffic)
{
    const struct shard_options *options = walk->options;
    int64_t world = options->world, tensors, trained = trained_elements(walk, &tensors);
    int64_t gradients = trained * walk->gradient_size;
    if (walk->strategy == SHARD_SDP)
        add(traffic, SHARD_REDUCE, share(gradients, world), 1, sdp_calls(walk));
    else
        add(traffic, SHARD_ALL_REDUCE, 2 * share(gradients, world), 1, ddp_calls(walk, gradients));
    add_buffers(walk, traffic);
    if (walk->strategy == SHARD_DDP)
        return;
    bool by_owner = walk->strategy != SHARD_ZERO;
    int64_t size = by_owner && options->half_broadcast ? 2 : walk->size;
    add(traffic, SHARD_BROADCAST, share(trained * size, world), 1, by_owner ? world : tensors);
}

static bool is_gathered_twice(const struct walk *walk, size_t unit)
{
    enum shard_reshard reshard = walk->options->reshard;
    return unit != SHARD_ROOT && reshard != SHARD_KEEP &&
           !(reshard == SHARD_RESHARD_LAST && unit + 1 == walk->model->unit_count);
}

/* Calls of reduce-scatter for a unit. FairScale sends a bucket, of which `filled` bytes are used,
 * when the gradients of the next unit do not fit. */
static int64_t flat_calls(const struct walk *walk, int64_t bytes, int64_t *filled)
{
    if (walk->strategy != SHARD_FSDP || bytes > WALK_FLAT_BUCKET)
        return 1;
    bool is_full = *filled + bytes > WALK_FLAT_BUCKET;
    *filled = (is_full ? 0 : *filled) + bytes;
    return is_full;
}

/* With mixed precision the code makes units of batch norms, without it. Their bytes are within
 * those of the unit around them, of which they are few. */
static int64_t norm_units(const struct walk *walk)
{
    bool are_spared = walk->options->compute_size == 2 && walk->strategy != SHARD_FSDP;
    return are_spared ? (int64_t)walk->model->batch_norms : 0;
}

static void sharded(const struct walk *walk, struct shard_traffic *traffic)
{
    const struct shard_options *options = walk->options;
    int64_t parts = walk->parts, replicas = options->world / parts, passes = options->accumulation;
    int64_t filled = 0;
    for (size_t i = walk->model->unit_count; i-- > 0;) { /* in the order of backward */
        const struct unit_sums *sums = &walk->units[i];
        int64_t gathers = is_gathered_twice(walk, i) ? 2 : 1;
        int64_t whole = sums->shard * parts * walk->compute_size;
        int64_t reduced = sums->trained_shard * parts * walk->reduce_size;
        if (parts > 1) {
            add(traffic, SHARD_ALL_GATHER, share(whole, parts), passes * gathers, 1);
            add(traffic, SHARD_REDUCE_SCATTER, share(reduced, parts), passes,
                flat_calls(walk, reduced, &filled));
        }
        add(traffic, SHARD_ALL_REDUCE, 2 * share(reduced / parts, replicas), passes, 1);
    }
    traffic->calls[SHARD_REDUCE_SCATTER] += filled > 0 ? passes : 0; /* when backward ends */
    int64_t norms = parts > 1 ? passes * norm_units(walk) : 0;
    bool is_kept = options->reshard == SHARD_KEEP && walk->strategy == SHARD_FSDP1;
    traffic->calls[SHARD_ALL_GATHER] += norms * (is_kept ? 1 : 2); /* fsdp2: as by default */
    traffic->calls[SHARD_REDUCE_SCATTER] += norms;
}

void shard_traffic_of(const struct walk *walk, struct shard_traffic *traffic)
{
    const struct shard_options *options = walk->options;
    int64_t calls = 0;
    *traffic = (struct shard_traffic){0};
    if (options->world > 1 && shard_is_full(walk->strategy))
        sharded(walk, traffic);
    else if (options->world > 1)
        replicated(walk, traffic);
    for (size_t i = 0; i < SHARD_COLLECTIVES; i++)
        calls += traffic->calls[i];
    if (options->bandwidth > 0)
        traffic->us += (double)shard_traffic_sum(traffic) / options->bandwidth * 1e6;
    traffic->us += (double)calls * options->latency_us;
}
