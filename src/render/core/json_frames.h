/* Names and stacks of a capture in JSON. The same names can occur in any number of frames, and the
 * same stack in any number of rows, so without a limit a small file could produce an unbounded
 * output. */
#ifndef MEMSNAP_RENDER_CORE_JSON_FRAMES_H
#define MEMSNAP_RENDER_CORE_JSON_FRAMES_H

#include "render/core/json.h"

#define JSON_NAME_MOST ((size_t)4096)

/* Cuts names beyond JSON_NAME_MOST bytes and adds "...". */
void json_put_name(struct json_writer *json, const char *key, struct text name);
/* [{"file", "line", "name"}...], innermost first. */
void json_put_frames(struct json_writer *json, const char *key, const struct symbols *symbols,
                     stack_id id);

#endif
