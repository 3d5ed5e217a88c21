#include "decode/pprof/internal.h"

struct text pprof_text(const pprof_profile *profile, int64_t index)
{
    if (index < 0 || (uint64_t)index >= profile->n_string_table)
        return (struct text){"", 0};
    const ProtobufCBinaryData *data = &profile->string_table[index];
    return (struct text){data->len > 0 ? (const char *)data->data : "", data->len};
}
