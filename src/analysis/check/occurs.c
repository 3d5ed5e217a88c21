#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/site_pattern.h"

static bool occurs_in(const uint8_t *categories, size_t count, enum category category)
{
    return count > 0 && memchr(categories, (int)category, count) != NULL;
}

bool check_category_occurs(const struct device_report *report, enum category category)
{
    const struct timeline *timeline = report->timeline;
    return occurs_in(report->all.of_lifetime, timeline->lifetime_count, category) ||
           occurs_in(report->all.of_preexisting, timeline->preexisting_count, category);
}

struct search {
    const struct device_report *report;
    struct live_set set;
    const char *pattern;
    struct buffer scratch, label;
    uint8_t *seen; /* by stack: user code that does not match, so that it is tested only once */
};

static bool matches(struct search *search, const struct live *live, bool *occurs, struct error *err)
{
    struct live_source source;
    if (!live_source_of(&search->set, live, &source, err))
        return false;
    bool plain = source.source == SOURCE_OWN && source.site.user_frame != NO_FRAME;
    if (plain && search->seen[source.shown])
        return true;
    if (plain)
        search->seen[source.shown] = 1;
    buffer_clear(&search->label);
    live_source_label(&search->set, &source, NULL, false, &search->label);
    struct text label = {search->label.bytes, search->label.size};
    *occurs = !search->label.failed &&
              pattern_matches_site(search->pattern, search->set.sites, source.shown, &source.site,
                                   label, &search->scratch);
    return (!search->scratch.failed && !search->label.failed) ||
           error_set(err, STATUS_LIMIT, "out of memory while checking");
}

static bool search_all(struct search *search, bool *occurs, struct error *err)
{
    const struct timeline *timeline = search->report->timeline;
    bool ok = true;
    for (size_t i = 0; ok && !*occurs && i < timeline->lifetime_count; i++) {
        struct live live = live_of_lifetime(timeline, i);
        ok = matches(search, &live, occurs, err);
    }
    for (size_t i = 0; ok && !*occurs && i < timeline->preexisting_count; i++) {
        struct live live = live_of_preexisting(timeline, i);
        ok = matches(search, &live, occurs, err);
    }
    return ok;
}

bool check_site_occurs(const struct device_report *report, struct site_table *sites,
                       const char *pattern, bool *occurs, struct error *err)
{
    struct search search = {
        .report = report,
        .set = {.timeline = report->timeline, .sites = sites, .categories = &report->all},
        .pattern = pattern,
        .seen = calloc(symbols_stack_count(site_table_symbols(sites)) + 1, 1),
    };
    *occurs = false;
    bool ok = search.seen ? search_all(&search, occurs, err)
                          : error_set(err, STATUS_LIMIT, "out of memory while checking");
    free(search.seen);
    buffer_release(&search.scratch);
    buffer_release(&search.label);
    return ok;
}
