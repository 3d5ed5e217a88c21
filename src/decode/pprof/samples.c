/* Samples as blocks: live memory by device and stack. */
#include <stdlib.h>

#include "decode/pprof/internal.h"

/* Blocks of a sample; if it has more allocations, they become one block. */
#define BLOCKS_MOST 65536
#define STEP        UINT64_C(512)

struct placed {
    uint32_t device;
    struct block_row block;
};

struct sampler {
    struct pprof_rows *rows;
    struct pprof_stacks stacks;
    struct placed *placed;
    size_t count, capacity;
    size_t bytes_at, count_at; /* among the values of a sample */
    uint64_t next_addr;
};

/* Finds the values to read: the last ones, which in profiles of several kinds are those in use. */
static bool find_values(struct sampler *sampler)
{
    const pprof_profile *profile = sampler->rows->profile;
    sampler->bytes_at = sampler->count_at = SIZE_MAX;
    for (size_t i = 0; i < profile->n_sample_type; i++) {
        struct text unit = pprof_text(profile, profile->sample_type[i]->unit);
        if (text_equals(unit, "bytes"))
            sampler->bytes_at = i;
        else if (text_equals(unit, "count"))
            sampler->count_at = i;
    }
    return sampler->bytes_at != SIZE_MAX ||
           error_set(sampler->rows->err, STATUS_BAD_INPUT,
                     "expected a memory profile, found a profile without values in bytes");
}

/* The number at the end of "gpu:1"; 0 if there is none. */
static uint32_t number_at_end(struct text name)
{
    uint32_t number = 0, unit = 1;
    for (size_t at = name.size; at-- > 0 && unit <= 100;) {
        if (name.bytes[at] < '0' || name.bytes[at] > '9')
            break;
        number += unit * (uint32_t)(name.bytes[at] - '0');
        unit *= 10;
    }
    return number;
}

static uint32_t device_of(const pprof_profile *profile, const pprof_sample *sample)
{
    for (size_t i = 0; i < sample->n_label; i++)
        if (text_equals(pprof_text(profile, sample->label[i]->key), "device"))
            return number_at_end(pprof_text(profile, sample->label[i]->str));
    return DEVICE_HOST;
}

static bool place(struct sampler *sampler, uint32_t device, stack_id stack, uint64_t bytes)
{
    struct placed placed = {.device = device,
                            .block = {.address = sampler->next_addr,
                                      .size = bytes,
                                      .requested_size = bytes,
                                      .state = BLOCK_ACTIVE_ALLOCATED,
                                      .stack = stack}};
    sampler->next_addr += (bytes + STEP) / STEP * STEP;
    if (sampler->next_addr >= UINT64_C(1) << 62)
        return error_set(sampler->rows->err, STATUS_BAD_INPUT,
                         "the samples add up to more than 4 EiB");
    return vec_push(sampler->placed, sampler->count, sampler->capacity, sampler->rows->budget,
                    sampler->rows->err, placed);
}

static int64_t value_at(const pprof_sample *sample, size_t index)
{
    return index < sample->n_value ? sample->value[index] : 0;
}

static bool take_sample(struct sampler *sampler, const pprof_sample *sample)
{
    int64_t bytes = value_at(sample, sampler->bytes_at);
    int64_t count = value_at(sample, sampler->count_at);
    stack_id stack;
    if (bytes < 0 || bytes > INT64_MAX / 4)
        return error_set(sampler->rows->err, STATUS_BAD_INPUT,
                         "expected bytes that are live, found %lld", (long long)bytes);
    if (bytes == 0)
        return true;
    if (!pprof_stack_of(&sampler->stacks, sample, &stack))
        return false;
    if (count < 1 || count > BLOCKS_MOST || count > bytes)
        count = 1;
    uint32_t device = device_of(sampler->rows->profile, sample);
    for (int64_t i = 0; i < count; i++)
        if (!place(sampler, device, stack,
                   (uint64_t)(bytes / count + (i == 0 ? bytes % count : 0))))
            return false;
    return true;
}

static int by_device(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->block.address > y->block.address) - (x->block.address < y->block.address);
}

static bool emit_device(struct sampler *sampler, const struct placed *placed, size_t count,
                        struct block_row *blocks)
{
    const struct row_sink *sink = sampler->rows->sink;
    struct segment_row segment = {.device = placed->device, .address = placed->block.address};
    for (size_t i = 0; i < count; i++) {
        blocks[i] = placed[i].block;
        segment.total_size += blocks[i].size;
    }
    segment.allocated_size = segment.active_size = segment.requested_size = segment.total_size;
    segment.blocks = blocks;
    segment.block_count = count;
    return symbols_string(sampler->rows->symbols, "large", 5, &segment.segment_type,
                          sampler->rows->err) &&
           sink->segment(sink->self, &segment, sampler->rows->err);
}

static bool emit_devices(struct sampler *sampler)
{
    struct block_row *blocks = NULL;
    size_t capacity = 0;
    if (sampler->count == 0)
        return true;
    bool ok =
        vec_reserve(blocks, capacity, sampler->count, sampler->rows->budget, sampler->rows->err);
    qsort(sampler->placed, sampler->count, sizeof(*sampler->placed), by_device);
    for (size_t from = 0, to; ok && from < sampler->count; from = to) {
        for (to = from + 1; to < sampler->count; to++)
            if (sampler->placed[to].device != sampler->placed[from].device)
                break;
        ok = emit_device(sampler, &sampler->placed[from], to - from, blocks);
    }
    vec_free(blocks, capacity, sizeof(*blocks), sampler->rows->budget);
    return ok;
}

bool pprof_emit(struct pprof_rows *rows)
{
    struct sampler sampler = {.rows = rows, .next_addr = STEP};
    bool ok = pprof_stacks_init(&sampler.stacks, rows) && find_values(&sampler);
    for (size_t i = 0; ok && i < rows->profile->n_sample; i++)
        ok = take_sample(&sampler, rows->profile->sample[i]);
    ok = ok && emit_devices(&sampler);
    pprof_stacks_release(&sampler.stacks);
    vec_free(sampler.placed, sampler.capacity, sizeof(*sampler.placed), rows->budget);
    return ok;
}
