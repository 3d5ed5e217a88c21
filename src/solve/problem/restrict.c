#include "solve/problem/restrict.h"

#include "analysis/code/site_pattern.h"

#define LONGEST_MATCHED 4096 /* bytes of a prefix that is matched with a pattern */

/* The patterns that matched, a bit for each. */
typedef uint32_t matches;
_Static_assert(RESTRICT_MOST <= 32, "a bit for each pattern");

static bool matches_prefix(const char *pattern, struct text name)
{
    for (size_t end = 1; end <= name.size && end <= LONGEST_MATCHED; end++)
        if ((end == name.size || name.bytes[end] == '.' || name.bytes[end] == ' ') &&
            pattern_matches(pattern, (struct text){name.bytes, end}))
            return true;
    return false;
}

static bool matches_any(const struct patterns *patterns, struct text name, matches *seen)
{
    matches found = 0;
    for (size_t k = 0; k < patterns->count; k++)
        if (matches_prefix(patterns->items[k], name))
            found |= (matches)1 << k;
    *seen |= found;
    return found != 0;
}

struct restricting {
    const struct problem *problem;
    const struct layer_trace *trace;
    const struct restriction *restriction;
    matches only, keep; /* patterns that matched something */
};

/* Whether all names of a piece match `only`, and whether some match `keep`. */
struct verdict {
    bool all_only, some_keep;
};

static void judge(struct restricting *restricting, struct text name, struct verdict *verdict)
{
    const struct restriction *restriction = restricting->restriction;
    verdict->all_only &= matches_any(&restriction->only, name, &restricting->only);
    verdict->some_keep |= matches_any(&restriction->keep, name, &restricting->keep);
}

static bool is_allowed(struct restricting *restricting, const struct piece *piece)
{
    const struct problem *problem = restricting->problem;
    struct verdict modules = {.all_only = true}, rows = {.all_only = true};
    bool has_root = false;
    for (size_t m = piece->first_module; m < piece->end_module; m++) {
        has_root |= problem->modules[m].size == 0;
        judge(restricting, problem->modules[m], &modules);
    }
    const struct restriction *restriction = restricting->restriction;
    bool any = restriction->only.count + restriction->keep.count > 0;
    for (size_t k = piece->first_row; any && k < piece->end_row; k++)
        judge(restricting, layer_name(restricting->trace, problem->rows[k]), &rows);
    return !has_root && !modules.some_keep && !rows.some_keep &&
           (restriction->only.count == 0 || modules.all_only || rows.all_only);
}

static bool check_matched(const struct restricting *restricting, const struct patterns *patterns,
                          matches matched, const char *option, const char *what, struct error *err)
{
    const struct problem *problem = restricting->problem;
    for (size_t k = 0; k < patterns->count; k++)
        if (!(matched >> k & 1))
            return cuts_unmatched(option, patterns->items[k], what, problem->modules,
                                  problem->module_count, err);
    return true;
}

static void limit(int64_t *reach, size_t end)
{
    *reach = *reach < (int64_t)end ? *reach : (int64_t)end;
}

bool problem_restrict(struct problem *problem, const struct layer_trace *trace,
                      const struct restriction *restriction, const char *what, struct error *err)
{
    struct restricting restricting = {problem, trace, restriction, 0, 0};
    size_t end = problem->chain.layers; /* end of the pieces from i on that may be in a segment */
    for (size_t i = problem->chain.layers; i-- > 0;) {
        if (!is_allowed(&restricting, &problem->pieces[i])) {
            end = i;
            problem->one_level = true;
        }
        limit(&problem->chain.reach[i], end);
        for (size_t k = 0; k < problem->chain.option_count; k++)
            limit(&problem->chain.options[k].reach[i], end);
    }
    return check_matched(&restricting, &restriction->only, restricting.only, "only", what, err) &&
           check_matched(&restricting, &restriction->keep, restricting.keep, "keep", what, err);
}
