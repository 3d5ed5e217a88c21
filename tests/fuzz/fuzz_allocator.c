/* libFuzzer entry: any bytes as calls of the allocator's model; and as a snapshot, of which a part
 * is replayed, as recorded and with other settings. */
#include <stdlib.h>

#include "analysis/replay/replay.h"

#define SETTINGS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static const char *const confs[SETTINGS] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:21,garbage_collection_threshold:0.5,per_process_memory_fraction:0.01",
    "roundup_power2_divisions:[1:2,>:8]",
    "expandable_segments:True,large_segment_size_mb:40,max_non_split_rounding_mb:60",
};

#define SLOTS      64
#define CALLS_MOST 20000
#define PLACES     4

static const struct allocator_place places[PLACES] = {{.stream = 0},
                                                      {.stream = 7},
                                                      {.pool = {1, 0}, .pool_index = 1},
                                                      {.pool = {1, 1}, .pool_index = 2}};

/* Requests from 1 byte to 64 MiB, of which many have equal sizes. */
static uint64_t request_of(uint8_t byte)
{
    return ((uint64_t)1 << byte % 27) + (byte > 200 ? 513 * (uint64_t)byte : 0);
}

struct calls {
    struct allocator *allocator;
    struct memory_block *slots[SLOTS];
    uint64_t live; /* bytes of blocks that the program holds */
};

/* One call, from two bytes. False if the model gave up. */
static bool call(struct calls *calls, uint8_t what, uint8_t which, struct error *err)
{
    struct memory_block **slot = &calls->slots[which % SLOTS];
    uint64_t size = request_of(what);
    if (what % 16 == 15)
        return allocator_empty_cache(calls->allocator, err);
    if (what == 14)
        allocator_end_pool(calls->allocator, which % PLACES);
    if (!*slot) {
        if (!allocator_malloc(calls->allocator, which / SLOTS, size, slot, err))
            return false;
        require(!*slot || (*slot)->size >= size);
        calls->live += *slot ? (*slot)->size : 0;
        return true;
    }
    calls->live -= (*slot)->is_allocated ? (*slot)->size : 0;
    return what % 4 == 0 && (*slot)->is_allocated
               ? allocator_free_requested(calls->allocator, slot, err)
               : allocator_free_completed(calls->allocator, slot, err);
}

/* In the end all is free, and can be released but for what lies in pools of graphs. */
static void check_end(struct calls *calls)
{
    struct error err;
    bool ok = true;
    for (size_t i = 0; ok && i < SLOTS; i++)
        ok = !calls->slots[i] || allocator_free_completed(calls->allocator, &calls->slots[i], &err);
    for (uint32_t place = 0; ok && place < PLACES; place++)
        allocator_end_pool(calls->allocator, place);
    if (ok && allocator_empty_cache(calls->allocator, &err)) {
        require(allocator_totals(calls->allocator)->allocated == 0);
        require(allocator_totals(calls->allocator)->reserved == 0);
    }
}

static void try_calls(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (size_t)32 << 20};
    struct allocator_settings settings;
    struct error err;
    struct calls calls = {0};
    require(conf_parse(confs[data[0] % SETTINGS], &settings, &err));
    const struct allocator_device device = {
        data[1] % 2 ? CAPACITY_NONE : (uint64_t)(1 + data[1]) << 22, (uint64_t)1 << 31,
        data[1] % 4 == 1 ? (uint64_t)1 << 28 : CAPACITY_NONE};
    const struct allocator_places all = {places, PLACES, 3};
    calls.allocator = allocator_create(&settings, &device, (enum tie_break)(data[0] % TIE_BREAKS),
                                       &all, NULL, &budget, &err);
    if (!calls.allocator)
        return;
    bool ok = true;
    for (size_t i = 2; ok && i + 1 < size && i < 2 * CALLS_MOST; i += 2) {
        ok = call(&calls, data[i], data[i + 1], &err);
        const struct allocator_totals *totals = allocator_totals(calls.allocator);
        require(!ok || totals->allocated == calls.live);
        require(!ok || (totals->allocated <= totals->reserved &&
                        totals->reserved <= totals->peak_reserved));
        require(!ok || totals->reserved <= device.capacity);
    }
    if (ok)
        check_end(&calls);
    else
        require(err.status == STATUS_LIMIT);
    allocator_destroy(calls.allocator);
    require(budget.used == 0);
}

/* The highest point of the curve is the peak of the row. */
static void check_curve(const struct device_replay *replay, size_t row, struct budget *budget)
{
    struct reserved_points points = {0};
    struct error err;
    uint64_t most = 0;
    int64_t item = -2;
    if (device_replay_curve(replay, row, &points, budget, &err)) {
        for (size_t i = 0; i < points.count; i++) {
            require(points.items[i].item > item);
            item = points.items[i].item;
            most = points.items[i].reserved > most ? points.items[i].reserved : most;
        }
        require(most <= replay->rows[row].totals.peak_reserved);
    }
    vec_free(points.items, points.capacity, sizeof(*points.items), budget);
}

static void check_row(struct device_replay *replay, size_t row, struct budget *budget)
{
    struct error err;
    if (!device_replay_row(replay, row, budget, &err)) {
        require(err.status == STATUS_LIMIT || err.status == STATUS_IO);
        return;
    }
    const struct replay_setting *setting = &replay->rows[row];
    require(setting->totals.peak_allocated <= setting->totals.peak_reserved);
    require(setting->totals.allocated_at_peak <= setting->totals.peak_allocated);
    require(!setting->has_least ||
            setting->least_capacity < setting->totals.peak_reserved + CAPACITY_STEP);
    check_curve(replay, row, budget);
}

static void check_replay(struct device_replay *replay, struct budget *budget)
{
    const struct as_is *as_is = &replay->as_is;
    require(as_is->exact_allocs <= as_is->allocs &&
            as_is->exact_segment_events <= as_is->segment_events);
    require(replay->trust != TRUST_WHOLE || as_is_exact(as_is));
    require((replay_doubt(replay->trust) == NULL) == replay_is_trusted(replay));
    for (size_t row = 0; row < replay->row_count; row++)
        check_row(replay, row, budget);
    device_replay_finish(replay);
}

/* The range depends on the bytes, so that it is the same in every run. */
static struct item_range range_of(const struct timeline *timeline, const uint8_t *data, size_t size)
{
    size_t count = timeline->trace->count, mix = size;
    for (size_t i = 0; i < size; i += 1 + size / 64)
        mix = mix * 31 + data[i];
    struct item_range range = {0, count};
    if (count > 0 && mix % 3 > 0) {
        range.from = mix / 3 % count;
        range.to = range.from + (mix % 3 == 1 ? count - range.from : mix % (count - range.from));
    }
    return range;
}

static void try_device(const struct snapshot *snapshot, uint32_t device, struct site_table *sites,
                       const uint8_t *data, size_t size)
{
    struct allocator_settings settings[SETTINGS];
    struct device_replay replay;
    struct error err;
    struct timeline *timeline = timeline_build(snapshot, device, &err);
    if (timeline == NULL)
        return;
    for (size_t i = 0; i < SETTINGS; i++)
        require(conf_parse(confs[i], &settings[i], &err));
    const struct item_range range = range_of(timeline, data, size);
    const struct replay_options options = {.settings = settings,
                                           .setting_count = SETTINGS,
                                           .gpu_bytes = (uint64_t)1 << (20 + size % 16),
                                           .tie_break = (enum tie_break)(size % (TIE_BREAKS + 1))};
    if (device_replay_begin(timeline, sites, &range, &options, &replay, &err)) {
        if (!*replay.obstacle)
            check_replay(&replay, snapshot->budget);
        device_replay_release(&replay);
    } else {
        require(err.status != STATUS_BAD_INPUT);
    }
    timeline_destroy(timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct load_options options = {.max_memory = (size_t)32 << 20};
    struct error err;
    uint32_t *devices;
    size_t count;
    if (size > 2)
        try_calls(data, size);
    struct snapshot *snapshot = snapshot_load_memory(data, size, &options, &err);
    if (snapshot == NULL)
        return 0;
    struct site_table *sites = site_table_create(snapshot->symbols, &err);
    if (sites != NULL && snapshot_devices(snapshot, &devices, &count, &err)) {
        for (size_t i = 0; i < count && i < 4; i++)
            try_device(snapshot, devices[i], sites, data, size);
        free(devices);
    }
    site_table_destroy(sites);
    snapshot_destroy(snapshot);
    return 0;
}
