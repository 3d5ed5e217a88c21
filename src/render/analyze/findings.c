/* The findings at the end of a device's report: what to do first. */
#include "render/analyze/findings.h"

#include <string.h>

#include "render/core/escape.h"

#define FINDING_INDENT (SECTION_INDENT + 3)

/* "  1. up to 6.64 GiB: Activations hold ..." and below it the next step. */
static bool finding_text(const struct page *page, const struct finding *finding, size_t number)
{
    struct buffer text = BUFFER_INIT;
    char bytes[UNITS_TEXT_SIZE];
    fprintf(page->out, "%*s%zu. ", SECTION_INDENT, "", number);
    if (finding->save_bytes == 0)
        buffer_puts(&text, "time: ");
    else
        buffer_printf(&text, "%s%s%s: ", finding_bound(finding),
                      page_bytes(page, bytes, finding->save_bytes),
                      finding->of_reserved ? " of reserved memory" : "");
    escape_text(&text, finding->what, strlen(finding->what));
    bool ok = !text.failed;
    if (ok)
        page_paragraph(page, FINDING_INDENT, FINDING_INDENT, text.bytes);
    buffer_clear(&text);
    escape_text(&text, finding->next, strlen(finding->next));
    ok = ok && !text.failed;
    if (ok) {
        fprintf(page->out, "%*s", FINDING_INDENT, "");
        page_paragraph(page, FINDING_INDENT, FINDING_INDENT, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

bool device_findings(const struct page *page, const struct device_report *report)
{
    const struct findings *findings = &report->findings;
    if (findings->count == 0)
        return true;
    fprintf(page->out, "\n%*s%sPossible savings%s%s\n", SECTION_INDENT, "",
            page_style(page, STYLE_TITLE), page_plain(page),
            findings->count > 1 ? " (savings overlap)" : "");
    for (size_t i = 0; i < findings->count; i++)
        if (!finding_text(page, &findings->items[i], i + 1))
            return false;
    return true;
}

static struct value whose(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(((const struct finding *)row)->of_reserved ? "reserved" : "active");
}

#define ROW struct finding
static const struct row_type finding_type = ROW_TYPE(
    "findings", ROW, FIELD(ROW, NAME, kind, .name = finding_kind_name),
    FIELD(ROW, BYTES, save_bytes), FIELD_CALL(WORD, "of", whose), FIELD(ROW, FLAG, at_most),
    FIELD(ROW, FLAG, at_least), FIELD(ROW, LABEL, what), FIELD(ROW, LABEL, next));
#undef ROW

void findings_json(struct json_writer *json, const struct device_report *report)
{
    const struct field_context context = report_context(report);
    json_put_rows(json, &finding_type, report->findings.items, report->findings.count, &context);
}
