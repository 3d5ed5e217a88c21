#include "model/loader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/snapshot.h"
#include "model/loader_state.h"

static bool loader_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    if (row->device >= LOADER_MAX_DEVICES && row->device != DEVICE_HOST)
        return error_set(err, STATUS_LIMIT, "a segment of device %u: at most %d devices are read",
                         row->device, LOADER_MAX_DEVICES);
    if (!vec_reserve(snapshot->segments, loader->segments_capacity, snapshot->segment_count + 1,
                     loader->budget, err) ||
        !vec_reserve(snapshot->blocks, loader->blocks_capacity,
                     snapshot->block_count + row->block_count, loader->budget, err))
        return false;
    snapshot->segments[snapshot->segment_count++] =
        (struct segment){.device = row->device,
                         .is_expandable = row->is_expandable,
                         .address = row->address,
                         .total_size = row->total_size,
                         .allocated_size = row->allocated_size,
                         .active_size = row->active_size,
                         .requested_size = row->requested_size,
                         .stream = row->stream,
                         .pool = {row->pool[0], row->pool[1]},
                         .segment_type = row->segment_type,
                         .stack = row->stack,
                         .forward_stack = row->forward_stack,
                         .first_block = snapshot->block_count,
                         .block_count = row->block_count};
    if (row->block_count)
        memcpy(snapshot->blocks + snapshot->block_count, row->blocks,
               row->block_count * sizeof(*row->blocks));
    snapshot->block_count += row->block_count;
    return true;
}

static bool loader_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    return vec_push(snapshot->annotations, snapshot->annotation_count, loader->annotations_capacity,
                    loader->budget, err, *row);
}

static bool loader_setting(void *self, const struct setting_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    return vec_push(snapshot->settings, snapshot->setting_count, loader->settings_capacity,
                    loader->budget, err, *row);
}

static bool loader_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    string_id kept; /* `where` is only valid during the call */
    if (!symbols_string(snapshot->symbols, where, strlen(where), &kept, err) ||
        !vec_reserve(snapshot->unknown_keys, loader->unknown_keys_capacity,
                     snapshot->unknown_key_count + 1, loader->budget, err))
        return false;
    snapshot->unknown_keys[snapshot->unknown_key_count++] =
        (struct unknown_key){.where = symbols_text(snapshot->symbols, kept).bytes, .key = key};
    return true;
}

/* The snapshot has no budget of its own yet: it borrows that of its symbols. */
static struct snapshot *empty_snapshot(struct budget *budget, struct error *err)
{
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot) {
        error_out_of_memory(err);
        return NULL;
    }
    snapshot->symbols = symbols_create(budget, err);
    bool ok = snapshot->symbols;
    for (size_t i = 0; ok && i < ACTION_OTHER; i++)
        ok = symbols_string(snapshot->symbols, action_texts[i].bytes, action_texts[i].size,
                            &snapshot->action_names[i], err);
    if (!ok) {
        symbols_destroy(snapshot->symbols);
        free(snapshot);
        return NULL;
    }
    snapshot->action_code_count = ACTION_OTHER;
    return snapshot;
}

/* Like loader_create(), with an existing malloc'ed budget instead of options->max_memory. The
 * snapshot owns the budget unless this fails. */
static struct loader *create_within(const struct load_options *options, struct budget *budget,
                                    struct error *err)
{
    struct loader *loader = calloc(1, sizeof(*loader));
    if (!loader) {
        error_out_of_memory(err);
        return NULL;
    }
    loader->snapshot = empty_snapshot(budget, err);
    if (!loader->snapshot) {
        free(loader);
        return NULL;
    }
    loader->snapshot->budget = budget;
    loader->budget = budget;
    loader->extras.budget = budget;
    loader->snapshot->host = TRACE_OF_DEVICE(DEVICE_HOST);
    loader->host.last_extra = UINT32_MAX;
    loader->run_device = NO_DEVICE;
    loader->progress = options->progress;
    loader->file_order = options->file_order;
    loader->launches = options->launches;
    loader->ahead = options->ahead;
    if (options->window.from.kind != POINT_OPEN || options->window.to.kind != POINT_OPEN)
        loader->window = &options->window;
    loader_report_progress(loader);
    return loader;
}

struct loader *loader_create(const struct load_options *options, struct error *err)
{
    struct budget *budget = calloc(1, sizeof(*budget));
    if (!budget) {
        error_out_of_memory(err);
        return NULL;
    }
    budget->limit = options->max_memory ? options->max_memory : budget_default_limit();
    struct loader *loader = create_within(options, budget, err);
    if (!loader)
        free(budget);
    return loader;
}

/* Releases everything but the snapshot and what it refers to. */
static void release_scratch(struct loader *loader)
{
    for (size_t i = 0; i < loader->snapshot->trace_count; i++) {
        cutter_destroy(loader->columns[i].cutter);
        ahead_destroy(loader->columns[i].ahead);
    }
    cutter_destroy(loader->host.cutter);
    ahead_destroy(loader->host.ahead);
    vec_free(loader->columns, loader->columns_capacity, sizeof(*loader->columns), loader->budget);
    vec_free(loader->runs, loader->runs_capacity, sizeof(*loader->runs), loader->budget);
    extras_release_table(&loader->extras);
}

void loader_destroy(struct loader *loader)
{
    if (!loader)
        return;
    release_scratch(loader);
    loader->snapshot->extras = loader->extras.items;
    snapshot_destroy(loader->snapshot);
    free(loader);
}

struct symbols *loader_symbols(struct loader *loader)
{
    return loader->snapshot->symbols;
}

static bool loader_launch(void *self, const struct launch_row *row, struct error *err)
{
    struct loader *loader = self;
    struct snapshot *snapshot = loader->snapshot;
    struct launch_row sum = *row;
    size_t count = snapshot->launch_count;
    if (count > 0 && __builtin_add_overflow(sum.kernel_ns, snapshot->launches[count - 1].kernel_ns,
                                            &sum.kernel_ns))
        sum.kernel_ns = INT64_MAX;
    return vec_push(snapshot->launches, snapshot->launch_count, loader->launches_capacity,
                    loader->budget, err, sum);
}

struct row_sink loader_sink(struct loader *loader)
{
    /* A window leaves events out, so that an event's index is not its index in the file. */
    return (struct row_sink){.self = loader,
                             .event = loader_event,
                             .event_again = loader_event_again,
                             .stack = loader->window ? NULL : loader_stack,
                             .trace = loader_trace,
                             .segment = loader_segment,
                             .annotation = loader_annotation,
                             .setting = loader_setting,
                             .launch = loader->launches ? loader_launch : NULL,
                             .unknown_key = loader_unknown_key};
}

/* Calls options->progress while `source` is read; NULL stops the calls. */
static void watch(struct loader *loader, const struct source *source)
{
    loader->source = source;
    loader_report_progress(loader);
}

/* Runs once, since there may be many settings and many devices that query them. */
static void read_settings(struct snapshot *snapshot)
{
    struct text value;
    snapshot->rules = allocator_rules_of(snapshot);
    snapshot->events_lost = snapshot_setting(snapshot, "trace_alloc_overflowed", &value) &&
                            strcasecmp(value.bytes, "true") == 0;
}

struct snapshot *loader_finish(struct loader *loader, struct error *err)
{
    struct snapshot *loaded = loader->snapshot;
    if (!loader_finish_traces(loader, err) ||
        !annotation_index_make(&loaded->annotation_index, loaded->annotations,
                               loaded->annotation_count, loaded->symbols, loader->budget, err)) {
        loader_destroy(loader);
        return NULL;
    }
    struct snapshot *snapshot = loader->snapshot;
    snapshot->extras = loader->extras.items;
    snapshot->extra_count = loader->extras.count;
    release_scratch(loader);
    free(loader);
    read_settings(snapshot);
    return snapshot;
}

/* Reads a whole file into a snapshot: the decoders feed the loader. */
struct snapshot *snapshot_load_input(struct input *input, const struct load_options *options,
                                     struct error *err)
{
    struct loader *loader = create_within(options, input->budget, err);
    if (!loader) {
        input_discard(input);
        return NULL;
    }
    struct row_sink sink = loader_sink(loader);
    struct decoded decoded;
    watch(loader, &input->source);
    bool ok = decode_snapshot(&input->source, loader_symbols(loader), &sink, &decoded, err);
    watch(loader, &input->source);
    watch(loader, NULL);
    enum compression compression = input->source.compression;
    input_close(input);
    if (!ok) {
        loader_destroy(loader);
        return NULL;
    }
    loader->snapshot->profile = decoded.profile;
    struct snapshot *snapshot = loader_finish(loader, err);
    if (!snapshot)
        return NULL;
    snapshot->encoding = decoded.encoding;
    snapshot->compression = compression;
    snapshot->protocol = decoded.protocol;
    snapshot->list_only = decoded.list_only;
    snapshot->input_bytes = input->bytes;
    return snapshot;
}

struct snapshot *snapshot_load(int fd, const struct load_options *options, struct error *err)
{
    struct input input;
    if (!input_from_fd(&input, fd, options->max_memory, err))
        return NULL;
    return snapshot_load_input(&input, options, err);
}

struct snapshot *snapshot_load_memory(const void *bytes, size_t size,
                                      const struct load_options *options, struct error *err)
{
    struct input input;
    if (!input_from_memory(&input, bytes, size, options->max_memory, err))
        return NULL;
    return snapshot_load_input(&input, options, err);
}
