#include "analysis/growth/holder.h"

#include "analysis/growth/growth.h"

size_t growth_holder(const struct growth *growth)
{
    if (growth->graph == GRAPH_KEPT && growth->last_row != NO_ROW)
        return growth->last_row;
    for (size_t i = 0; i < growth->row_count && growth->rows[i].fit.kind == GROWTH_GROWING; i++)
        if (!growth->rows[i].in_use &&
            (!growth->grow_models || growth->rows[i].category == CATEGORY_PARAMETER))
            return i;
    return 0;
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
    if (call.site.user_frame == source->site.user_frame &&
        !site_at_package_call(set->sites, source->shown, &call.site))
        return true;
    live_source_label(set, &call, NULL, false, &text);
    bool ok = label_keep(site_table_symbols(set->sites), &text, caller, err);
    buffer_release(&text);
    return ok;
}
