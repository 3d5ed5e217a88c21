#include <stdlib.h>

#include "commands/check/options.h"

bool check_is_for_ci(enum check_format format)
{
    return format == CHECK_JUNIT || format == CHECK_GITHUB;
}

bool check_print(const struct check_options *options, const struct checked_file *files,
                 size_t count, FILE *out)
{
    const char *root = options->source_root;
    const struct check_report report = {
        .files = files,
        .count = count,
        .baseline = options->baseline,
        .source_root = root ? root : getenv("GITHUB_WORKSPACE"),
        .look = options->look,
        .unit = options->unit,
    };
    struct page page = page_for(out, options->unit);
    switch (options->format) {
    case CHECK_JSON:
        return check_json(out, &report);
    case CHECK_JUNIT:
        return check_junit(out, &report);
    case CHECK_GITHUB:
        return check_github(out, &report);
    default:
        return check_text(&page, &report);
    }
}
