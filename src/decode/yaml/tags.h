/* The tags of PyYAML, as inert values. */
#ifndef MEMSNAP_DECODE_YAML_TAGS_H
#define MEMSNAP_DECODE_YAML_TAGS_H

#include "decode/core/value.h"

/* True for a tag that names an instance of a class: yaml_instance() replaces its container. */
bool yaml_is_instance(struct text tag);
/* Makes the NODE_OBJECT that the tag and the finished list or dict describe. */
bool yaml_instance(struct values *values, struct text tag, value content, uint64_t line, value *v,
                   struct error *err);
/* True for a scalar's tag that names a class or a function; `*v` is then its NODE_GLOBAL. If memory
 * runs out, sets `*failed` and fills `err`. */
bool yaml_global(struct values *values, struct text tag, uint64_t line, value *v, bool *failed,
                 struct error *err);

#endif
