/* The list that notices are added to. Files of this folder only. */
#ifndef MEMSNAP_ANALYSIS_REPORT_NOTICE_LIST_H
#define MEMSNAP_ANALYSIS_REPORT_NOTICE_LIST_H

#include "analysis/report/notices.h"

#define NOTICES_MOST 12 /* that one capture can get */

struct notice_list {
    struct notice *items; /* NOTICES_MOST of them */
    size_t count;
    enum unit unit;
};

/* A text that is too long is cut. */
void notice_add(struct notice_list *list, enum notice_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline const char *notice_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* What a profiler trace, or a memory timeline, does not tell. */
void notices_of_profile(struct notice_list *list, const struct timeline *timeline);
void notices_of_timeline(struct notice_list *list, const struct timeline *timeline);
/* Where the file contradicts itself, or has events that are not known. */
void notices_of_flaws(struct notice_list *list, const struct timeline *timeline,
                      int64_t unexplained_bytes);

#endif
