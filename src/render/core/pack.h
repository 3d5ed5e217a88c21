/* What writers of msgpack share. */
#ifndef MEMSNAP_RENDER_CORE_PACK_H
#define MEMSNAP_RENDER_CORE_PACK_H

#include <msgpack.h>

#include "base/buffer.h"

/* For msgpack_packer_init(): appends to a struct buffer. */
static inline int pack_to_buffer(void *buffer, const char *bytes, size_t size)
{
    buffer_add(buffer, bytes, size);
    return 0;
}

static inline void pack_text(msgpack_packer *packer, const char *bytes, size_t size)
{
    msgpack_pack_str(packer, size);
    msgpack_pack_str_body(packer, bytes, size);
}

#endif
