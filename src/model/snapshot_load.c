/* Reads a whole file into a snapshot: the decoders feed the loader. */
#include "decode/snapshot.h"
#include "model/loader.h"

struct snapshot *snapshot_load_input(struct input *input, const struct load_options *options,
                                     struct error *err)
{
    struct loader *loader = loader_create_within(options, input->budget, err);
    if (!loader) {
        input_discard(input);
        return NULL;
    }
    struct row_sink sink = loader_sink(loader);
    struct decoded decoded;
    loader_watch(loader, &input->source);
    bool ok = decode_snapshot(&input->source, loader_symbols(loader), &sink, &decoded, err);
    loader_watch(loader, &input->source);
    loader_watch(loader, NULL);
    enum compression compression = input->source.compression;
    input_close(input);
    if (!ok) {
        loader_destroy(loader);
        return NULL;
    }
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
