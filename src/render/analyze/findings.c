/* What to do first: the end of a device's report. */
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
    buffer_printf(&text, "%s%s%s: ", finding->at_most ? "up to " : "",
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
    fprintf(page->out, "\n%*s%sWhat could be saved%s%s\n", SECTION_INDENT, "",
            page_style(page, STYLE_TITLE), page_plain(page),
            findings->count > 1 ? " (savings overlap)" : "");
    for (size_t i = 0; i < findings->count; i++)
        if (!finding_text(page, &findings->items[i], i + 1))
            return false;
    return true;
}

void findings_json(struct json_writer *json, const struct device_report *report)
{
    json_put_open(json, "findings", '[');
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = &report->findings.items[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "kind", finding_kind_name(finding->kind));
        json_put_integer(json, "save_bytes", finding->save_bytes);
        json_put_string(json, "of", finding->of_reserved ? "reserved" : "active");
        json_put_bool(json, "at_most", finding->at_most);
        json_put_string(json, "what", finding->what);
        json_put_string(json, "next", finding->next);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}
