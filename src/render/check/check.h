/* What `memsnap check` prints. */
#ifndef MEMSNAP_RENDER_CHECK_CHECK_H
#define MEMSNAP_RENDER_CHECK_CHECK_H

#include "analysis/check/check.h"
#include "render/core/page.h"

struct checked_file {
    const char *path; /* as the user named it; "-" for standard input */
    struct check_result result;
    bool failed; /* it could not be checked: see err */
    struct error err;
};

/* Options as the user gave them, or NULL: what else shows a capture needs them too. */
struct check_look {
    const char *at, *device, *range, *rules;
};

struct check_report {
    const struct checked_file *files;
    size_t count;
    const char *baseline;    /* its path, or NULL */
    const char *source_root; /* folder that annotations name files in, or NULL */
    struct check_look look;
    enum unit unit; /* of sizes in sentences */
};

/* All checked, and none failed a rule. */
bool check_report_passed(const struct check_report *report);

/* False: out of memory. */
bool check_text(const struct page *page, const struct check_report *report);
bool check_json(FILE *out, const struct check_report *report);   /* memsnap.check/1, one line */
bool check_github(FILE *out, const struct check_report *report); /* workflow commands of GitHub */
bool check_junit(FILE *out, const struct check_report *report);  /* JUnit's XML */

#endif
