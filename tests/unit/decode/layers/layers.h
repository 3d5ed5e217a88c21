/* Shared by the tests of layer traces. */
#ifndef MEMSNAP_TESTS_UNIT_DECODE_LAYERS_LAYERS_H
#define MEMSNAP_TESTS_UNIT_DECODE_LAYERS_LAYERS_H

#include <string.h>

#include "base/buffer.h"
#include "model/layer_trace.h"
#include "unit/unit.h"

TCase *layers_json_tests(void);
TCase *layers_tree_tests(void);

/* One forward row and the text after `allocated` in it, as JSON. */
#define ROW_KEYS                                                                                   \
    "\"module_params\":1,\"allocated\":2,\"reserved\":3,\"all_gathered\":4,"                       \
    "\"cumul_all_gathered\":5"
#define FORWARD_ROW                                                                                \
    "{\"module_name\":\"a\"," ROW_KEYS                                                             \
    ",\"is_forward\":true,\"event\":{\"memory_diff\":-6,\"memory_activations\":7}}"
#define BACKWARD_ROW                                                                               \
    "{\"module_name\":\"a\"," ROW_KEYS ",\"is_forward\":false,\"event\":{\"memory_activations\":"  \
    "8}}"

struct layer_trace *layers_load(const void *bytes, size_t size); /* must succeed */
struct layer_trace *layers_load_text(const char *json);
/* Must fail so; `offset` -1: none. */
void layers_refused(const void *bytes, size_t size, enum status status, int64_t offset,
                    const char *text);
void layers_refused_text(const char *json, int64_t offset, const char *text);
/* Loads every beginning of the bytes, and them with one byte changed: under a tight budget, and to
 * whatever end. */
void layers_survive(const void *bytes, size_t size);

#endif
