#include "render/export/parts.h"

#include <string.h>

void export_category_name(struct export_sheet *sheet, enum category category)
{
    const char *name = category_name(category);
    if (category <= CATEGORY_COUNT)
        record_word(&sheet->records, name);
    else
        record_text(&sheet->records, name, strlen(name));
}

void export_category(struct export_sheet *sheet, const struct live_set *set,
                     const struct live *live, bool reason)
{
    uint8_t why = live_reason(set, live);
    export_category_name(sheet, live_category(set, live));
    record_word(&sheet->records, confidence_name(reason_confidence(why)));
    if (reason)
        record_word(&sheet->records, reason_name(why));
}

bool export_source_label(struct export_sheet *sheet, const struct live_set *set,
                         const struct live_source *source, struct error *err)
{
    if (source->source != SOURCE_FORWARD)
        return export_site(sheet, source->shown, err);
    struct buffer label = BUFFER_INIT;
    live_source_label(set, source, NULL, false, &label);
    bool ok = !label.failed || error_set(err, STATUS_LIMIT, "out of memory");
    if (ok)
        record_text(&sheet->records, label.bytes, label.size);
    buffer_release(&label);
    return ok && export_string(sheet, source->site.op, err);
}

bool export_source(struct export_sheet *sheet, const struct live_set *set, const struct live *live,
                   bool forward, struct error *err)
{
    struct live_source source;
    if (!live_source_of(set, live, &source, err) || !export_source_label(sheet, set, &source, err))
        return false;
    export_stack(sheet, live->stack);
    if (forward)
        export_stack(sheet, live_forward_stack(set, live));
    return true;
}
