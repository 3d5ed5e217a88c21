/* Values of a dump that JSON has no form for, as strings. */
#ifndef MEMSNAP_RENDER_DUMP_LEAF_H
#define MEMSNAP_RENDER_DUMP_LEAF_H

#include "render/core/json.h"

void emit_base64(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size);

/* An integer of any size, in little-endian two's complement: in decimal up to as many digits as
 * Python itself converts (4300), for that takes time with the square of their number, and in
 * hexadecimal (-0x1f) beyond. */
void emit_big_integer(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size);

#endif
