/* allocator_settings of a snapshot, from the flattened leaves that were read. */
#ifndef MEMSNAP_RENDER_EXPORT_SNAPSHOT_SETTINGS_H
#define MEMSNAP_RENDER_EXPORT_SNAPSHOT_SETTINGS_H

#include "model/snapshot.h"
#include "render/export/pickler.h"

/* Writes a dict. A key "a.b" becomes the key b in a dict a. A value becomes the constant or number
 * that Python prints in this way (True, -1, 0.0, None), or else a string. A key in capitals is the
 * name of an environment variable, whose value is always a string. */
bool snapshot_settings_pickle(struct pickler *pickle, const struct snapshot *snapshot,
                              struct error *err);

#endif
