/* allocator_settings of a snapshot, from the flattened leaves that were read. */
#ifndef MEMSNAP_RENDER_EXPORT_SNAPSHOT_SETTINGS_H
#define MEMSNAP_RENDER_EXPORT_SNAPSHOT_SETTINGS_H

#include "model/snapshot.h"
#include "render/export/pickler.h"

/* Writes a dict: "a.b" becomes b in a dict a, and a value what Python prints like that (True, -1,
 * 0.0, None), else a string. A name in capitals is an environment variable's: always a string. */
bool snapshot_settings_pickle(struct pickler *pickle, const struct snapshot *snapshot,
                              struct error *err);

#endif
