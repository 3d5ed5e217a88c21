/* Plain scalars of YAML 1.1, as PyYAML writes them. */
#ifndef MEMSNAP_DECODE_YAML_SCALAR_H
#define MEMSNAP_DECODE_YAML_SCALAR_H

#include "decode/core/value.h"

/* The value of a plain scalar without a tag. Whatever is neither a constant nor a number is a
 * string. A NUL byte follows the text. */
bool yaml_plain_scalar(struct values *values, struct text text, uint64_t line, value *v,
                       struct error *err);
bool yaml_string(struct values *values, struct text text, uint64_t line, value *v,
                 struct error *err);

#endif
