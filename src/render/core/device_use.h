/* A sentence on the use of a device's memory that adds up to what nvidia-smi shows. */
#ifndef MEMSNAP_RENDER_CORE_DEVICE_USE_H
#define MEMSNAP_RENDER_CORE_DEVICE_USE_H

#include "base/buffer.h"
#include "render/core/page.h"

struct device_use {
    uint64_t allocated_bytes; /* by PyTorch, in blocks */
    uint64_t cached_bytes;    /* reserved by PyTorch, but in no block */
    uint64_t outside_bytes;   /* held outside of PyTorch's allocator, by any process */
    uint64_t device_bytes;
    const char *monitor; /* the tool that shows the sum: "nvidia-smi" */
};

/* Adds "used, as nvidia-smi shows it: ... allocated + ... cached + ... outside of PyTorch =
 * ... of ..." */
void device_use_add(struct buffer *text, const struct page *page, const struct device_use *use);

#endif
