#define _GNU_SOURCE /* vasprintf */
#include "analysis/findings/findings_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT " at "

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

const char *finding_whole(const struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    return !set || timeline_knows_peak(set->timeline) ? "the peak" : "the memory in use";
}

struct amount_text finding_amount(const struct findings_maker *maker, int64_t bytes)
{
    struct amount_text amount;
    snprintf(amount.text, sizeof(amount.text), "%s, %.1f%% of %s", finding_size(maker, bytes).text,
             finding_share(maker, bytes), finding_whole(maker));
    return amount;
}

bool finding_add(struct findings_maker *maker, struct finding finding, const char *next,
                 const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    if (vasprintf(&finding.what, what, arguments) < 0)
        finding.what = NULL;
    va_end(arguments);
    const char *where = finding.where ? finding.where : maker->where;
    finding.where = where ? strdup(where) : NULL;
    finding.next = strdup(next);
    if (!finding.what || !finding.next || (where && !finding.where)) {
        finding_release(&finding);
        return error_out_of_memory(maker->err);
    }
    maker->findings->items[maker->findings->count++] = finding;
    return true;
}

void finding_release(struct finding *finding)
{
    free(finding->what);
    free(finding->next);
    free((char *)finding->where);
}

bool finding_line(const struct findings_maker *maker, stack_id stack, struct buffer *text)
{
    const struct live_set *set = maker->evidence->at_peak;
    const struct stack_facts *facts = site_stack_facts(set->sites, stack, maker->err);
    if (!facts)
        return false;
    if (site_line(&facts->site) != NO_FRAME) {
        buffer_puts(text, AT);
        site_label(set->sites, stack, &facts->site, text);
    } else {
        buffer_puts(text, "");
    }
    return !text->failed || error_out_of_memory(maker->err);
}

const char *finding_where(const struct buffer *line)
{
    return line->size > 0 ? line->bytes + strlen(AT) : NULL;
}
