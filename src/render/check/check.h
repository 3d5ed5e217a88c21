/* Prints the results of `memsnap check`. */
#ifndef MEMSNAP_RENDER_CHECK_CHECK_H
#define MEMSNAP_RENDER_CHECK_CHECK_H

#include "analysis/check/check.h"
#include "render/core/page.h"

struct checked_file {
    const char *path; /* as the user named it; "-" for standard input */
    struct check_result result;
    bool failed; /* the file could not be checked, for the reason in err */
    struct error err;
};

/* Options as the user gave them, or NULL, to repeat them in the commands that a report suggests. */
struct check_look {
    const char *at, *device, *range, *rules, *metric;
};

struct check_report {
    const struct checked_file *files;
    size_t count;
    const char *baseline;    /* its path, or NULL */
    const char *source_root; /* folder; annotations name files relative to it; or NULL */
    struct check_look look;
    enum unit unit; /* of sizes in sentences */
};

/* True if all files could be checked and none failed a rule. */
bool check_report_passed(const struct check_report *report);

/* False: out of memory. */
bool check_text(const struct page *page, const struct check_report *report);
bool check_json(FILE *out, const struct check_report *report);   /* memsnap.check/1, one line */
bool check_github(FILE *out, const struct check_report *report); /* workflow commands of GitHub */
bool check_junit(FILE *out, const struct check_report *report);  /* JUnit's XML */

#endif
