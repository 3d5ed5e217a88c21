/* Writes values of a dump that JSON has no form for as strings. */
#ifndef MEMSNAP_RENDER_DUMP_LEAF_H
#define MEMSNAP_RENDER_DUMP_LEAF_H

#include "render/core/json.h"

void emit_base64(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size);

/* Writes an integer of any size, given in little-endian two's complement: in decimal if it has at
 * most 4300 digits, the limit of Python's own conversion, and otherwise in hexadecimal (-0x1f). The
 * limit exists because the time of a conversion grows with the square of the number of digits. */
void emit_big_integer(struct json_writer *json, const char *key, const uint8_t *bytes, size_t size);

#endif
