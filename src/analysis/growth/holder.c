#include "analysis/growth/holder.h"

#include "analysis/growth/growth.h"

size_t growth_holder(const struct growth *growth)
{
    if (growth->graph != GRAPH_KEPT)
        return 0;
    return growth->last_row != NO_ROW ? growth->last_row : 0;
}

bool growth_label_caller(const struct live_set *set, const struct live_source *source,
                         const char **caller, struct error *err)
{
    struct live_source call = *source;
    struct buffer text = BUFFER_INIT;
    *caller = NULL;
    if (source->shown == STACK_NONE || source->site.user_frame == NO_FRAME)
        return true;
    site_at_model_call(set->sites, source->shown, &call.site);
    if (call.site.user_frame == source->site.user_frame)
        return true;
    live_source_label(set, &call, NULL, false, &text);
    bool ok = label_keep(site_table_symbols(set->sites), &text, caller, err);
    buffer_release(&text);
    return ok;
}
