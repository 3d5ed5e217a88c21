/* Builds a snapshot from the rows that a decoder hands out.
 *
 * Loading is loader_create, decoding into loader_sink with the snapshot's own symbols and budget,
 * loader_finish. snapshot_load does exactly that; tests push rows into the sink directly. */
#ifndef MEMSNAP_MODEL_LOADER_H
#define MEMSNAP_MODEL_LOADER_H

#include "model/snapshot.h"

/* PyTorch's device index is a signed byte; a file with more devices than this is damaged. */
#define LOADER_MAX_DEVICES 1024

struct loader;

/* `options` must stay valid until the loader is finished. NULL on failure. */
struct loader *loader_create(const struct load_options *options, struct error *err);
void loader_destroy(struct loader *loader); /* NULL is allowed */

/* They belong to the snapshot that is being built. */
struct symbols *loader_symbols(struct loader *loader);
struct row_sink loader_sink(struct loader *loader);

/* Returns the snapshot, or NULL: STATUS_USAGE if the window contains no event. Destroys the loader
 * in both cases. */
struct snapshot *loader_finish(struct loader *loader, struct error *err);

#endif
