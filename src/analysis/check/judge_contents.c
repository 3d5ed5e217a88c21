/* Rules about what memory is for, and which code allocated it. */
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/site_pattern.h"

static bool is_of_category(void *self, const struct site_row *row)
{
    const struct judge *judge = self;
    return row->group.category == judge->rule->category;
}

bool check_judge_category(struct judge *judge, struct check_row *row)
{
    enum category category = judge->rule->category;
    if (judge->capture == CHECK_OF_LAYERS) {
        row->value = judge->layers->total_activations;
        if (category != CATEGORY_ACTIVATION || row->value <= 0)
            judge->not_judged = judge->rule->kind->absence;
        return true;
    }
    if (judge->capture == CHECK_OF_SUMMARY) {
        bool found;
        row->value = check_summary_category(judge->summary, category, &found);
        judge->is_absent = !found;
        return true;
    }
    for (size_t i = 0; i < judge->at->category_count; i++)
        if (judge->at->categories[i].category == category)
            row->value = judge->at->categories[i].bytes;
    judge->is_absent = !check_category_occurs(judge->at, category);
    return true;
}

bool check_blame_category(struct judge *judge, struct check_row *row)
{
    static const struct {
        enum category category;
        enum finding_kind finding;
    } findings[] = {
        {CATEGORY_ACTIVATION, FINDING_ACTIVATIONS},
        {CATEGORY_GRADIENT, FINDING_GRADIENTS},
        {CATEGORY_OPTIMIZER_STATE, FINDING_OPTIMIZER_STATE},
    };
    bool ok = check_blame_rows(judge, judge->at, is_of_category, row);
    for (size_t i = 0; ok && i < sizeof(findings) / sizeof(findings[0]); i++)
        if (findings[i].category == judge->rule->category)
            ok = check_advise(judge, judge->at, findings[i].finding, row);
    return ok;
}

static bool matches_pattern(void *self, const struct site_row *row)
{
    struct judge *judge = self;
    struct text label = {row->label.full, strlen(row->label.full)};
    return pattern_matches_site(judge->rule->subject, judge->question->sites,
                                row->group.source.shown, &row->group.source.site, label,
                                &judge->scratch);
}

bool check_judge_site(struct judge *judge, struct check_row *row)
{
    size_t index = (size_t)(judge->rule - judge->question->rules->items);
    bool found = false;
    for (size_t i = 0; i < judge->at->site_count; i++) {
        const struct site_row *site = &judge->at->sites[i];
        if (site->is_remainder || !matches_pattern(judge, site))
            continue;
        row->value += site->group.bytes;
        found = true;
    }
    if (judge->scratch.failed)
        return error_out_of_memory(judge->err);
    /* The search takes long, and one device where the pattern occurs is enough. */
    if (!found && !judge->result->held[index] &&
        !check_site_occurs(judge->at, judge->question->sites, judge->rule->subject, &found,
                           judge->err))
        return false;
    judge->is_absent = !found;
    return true;
}

bool check_blame_site(struct judge *judge, struct check_row *row)
{
    return check_blame_rows(judge, judge->at, matches_pattern, row);
}
