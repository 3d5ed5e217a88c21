#include "render/core/device_use.h"

void device_use_add(struct buffer *text, const struct page *page, const struct device_use *use)
{
    char allocated[UNITS_TEXT_SIZE], cached[UNITS_TEXT_SIZE], outside[UNITS_TEXT_SIZE];
    char sum[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE];
    buffer_printf(
        text,
        "used, as %s shows it: %s allocated + %s cached + %s outside of PyTorch "
        "= %s of %s",
        use->monitor, page_size(page, allocated, use->allocated_bytes),
        page_size(page, cached, use->cached_bytes), page_size(page, outside, use->outside_bytes),
        page_size(page, sum, use->allocated_bytes + use->cached_bytes + use->outside_bytes),
        page_size(page, whole, use->device_bytes));
}
