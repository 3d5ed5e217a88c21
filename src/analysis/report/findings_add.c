#define _GNU_SOURCE /* vasprintf */
#include "analysis/report/findings_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct size_text finding_size(const struct findings_maker *maker, int64_t bytes)
{
    struct size_text size;
    units_bytes(size.text, bytes, maker->evidence->unit);
    return size;
}

double finding_share(const struct findings_maker *maker, int64_t bytes)
{
    int64_t peak = maker->evidence->peak->active_bytes;
    return peak > 0 ? 100.0 * (double)bytes / (double)peak : 0;
}

/* Replaces a word by another, everywhere. NULL if out of memory. */
static char *replaced(const char *text, const char *word, const char *by)
{
    struct buffer made = BUFFER_INIT;
    buffer_puts(&made, "");
    for (const char *at; (at = strstr(text, word)) != NULL; text = at + strlen(word))
        buffer_printf(&made, "%.*s%s", (int)(at - text), text, by);
    buffer_puts(&made, text);
    char *copy = made.failed ? NULL : strdup(made.bytes);
    buffer_release(&made);
    return copy;
}

/* Says "of the memory in use" where the peak is not known. */
static void name_share(const struct findings_maker *maker, struct finding *finding)
{
    const struct live_set *set = maker->evidence->at_peak;
    if (!finding->what || !set || timeline_knows_peak(set->timeline))
        return;
    char *what = replaced(finding->what, "of the peak", "of the memory in use");
    free(finding->what);
    finding->what = what;
}

bool finding_add(struct findings_maker *maker, struct finding finding, const char *next,
                 const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    if (vasprintf(&finding.what, what, arguments) < 0)
        finding.what = NULL;
    va_end(arguments);
    name_share(maker, &finding);
    finding.next = strdup(next);
    if (!finding.what || !finding.next) {
        free(finding.what);
        free(finding.next);
        return error_out_of_memory(maker->err);
    }
    maker->findings->items[maker->findings->count++] = finding;
    return true;
}

bool finding_line(const struct findings_maker *maker, stack_id stack, struct buffer *text)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct stack_facts *facts = site_stack_facts(set->sites, stack, maker->err);
    if (!facts)
        return false;
    if (site_line(&facts->site) != NO_FRAME) {
        buffer_puts(text, " at ");
        site_label(set->sites, stack, &facts->site, text);
    } else {
        buffer_puts(text, "");
    }
    return !text->failed || error_out_of_memory(maker->err);
}
