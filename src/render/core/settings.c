#include "render/core/settings.h"

#include <string.h>

#include "analysis/code/paths.h"
#include "render/core/escape.h"

#define CONF "PYTORCH_CUDA_ALLOC_CONF"

/* A full ring buffer is reported as a warning elsewhere. The environment variable is printed whole,
 * before the other settings. */
static bool is_told_elsewhere(struct text key)
{
    return text_equals(key, CONF) || text_equals(key, "trace_alloc_overflowed");
}

static bool is_default(struct text key, struct text value)
{
    static const char *const off[] = {"False", "None", "0", "0.0", "-1", ""};
    if (text_equals(key, "pinned_num_register_threads"))
        return text_equals(value, "1");
    if (text_equals(key, "trace_alloc_max_entries"))
        return text_equals(value, "9223372036854775807");
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        if (text_equals(value, off[i]))
            return true;
    return false;
}

static void add_pair(struct buffer *out, struct text key, struct text value)
{
    if (out->size)
        buffer_puts(out, ", ");
    escape_text(out, key.bytes, key.size);
    buffer_putc(out, '=');
    escape_text(out, value.bytes, value.size);
}

void settings_summary(const struct snapshot *snapshot, struct buffer *out)
{
    struct text conf;
    if (snapshot_setting(snapshot, CONF, &conf) && conf.size)
        add_pair(out, (struct text){CONF, strlen(CONF)}, conf);
    for (size_t i = 0; i < snapshot->setting_count; i++) {
        struct text key = symbols_text(snapshot->symbols, snapshot->settings[i].key);
        struct text value = symbols_text(snapshot->symbols, snapshot->settings[i].value);
        if (!is_told_elsewhere(key) && !is_default(key, value))
            add_pair(out, key, value);
    }
    if (!out->size)
        buffer_puts(out, snapshot->setting_count ? "defaults" : "not recorded");
}
