/* The allocator's settings that differ from PyTorch's defaults. */
#ifndef MEMSNAP_RENDER_CORE_SETTINGS_H
#define MEMSNAP_RENDER_CORE_SETTINGS_H

#include "base/buffer.h"
#include "model/snapshot.h"

/* "defaults", "not recorded", or "PYTORCH_CUDA_ALLOC_CONF=..., key=value": escaped. */
void settings_summary(const struct snapshot *snapshot, struct buffer *out);

#endif
