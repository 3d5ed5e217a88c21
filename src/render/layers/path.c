#include "render/layers/path.h"

#define MOST_LEVELS 40 /* more than the tree has */

void layers_path(const struct layers_report *report, uint32_t node, bool whole, struct buffer *out)
{
    uint32_t path[MOST_LEVELS];
    size_t length = 0;
    while (node != 0 && length < MOST_LEVELS) {
        path[length++] = node;
        node = report->nodes[node].parent;
        if (!whole && report->nodes[node].shown)
            break;
    }
    while (length-- > 0) {
        struct text component = report->nodes[path[length]].component;
        buffer_add(out, component.bytes, component.size);
        buffer_puts(out, length ? "." : "");
    }
}
