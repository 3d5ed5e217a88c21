#include "render/core/json_frames.h"

#include <string.h>

void json_put_name(struct json_writer *json, const char *key, struct text name)
{
    static const char dots[] = "...";
    char cut[JSON_NAME_MOST + sizeof(dots)];
    struct text shown = text_first(name, JSON_NAME_MOST);
    if (shown.size < name.size) {
        memcpy(cut, shown.bytes, shown.size);
        memcpy(cut + shown.size, dots, sizeof(dots));
        shown = (struct text){cut, shown.size + sizeof(dots) - 1};
    }
    json_put_bytes(json, key, shown.bytes, shown.size);
}

void json_put_frames(struct json_writer *json, const char *key, const struct symbols *symbols,
                     stack_id id)
{
    struct stack stack = symbols_stack_at(symbols, id);
    json_put_open(json, key, '[');
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        json_put_open(json, NULL, '{');
        json_put_name(json, "file", symbols_text(symbols, frame.file));
        json_put_count(json, "line", frame.line);
        json_put_name(json, "name", symbols_text(symbols, frame.name));
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}
