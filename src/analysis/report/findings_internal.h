/* What findings are made with. Internal to analysis/findings*.c. */
#ifndef MEMSNAP_ANALYSIS_REPORT_FINDINGS_INTERNAL_H
#define MEMSNAP_ANALYSIS_REPORT_FINDINGS_INTERNAL_H

#include "analysis/report/findings.h"

struct findings_maker {
    const struct evidence_of_all *evidence;
    struct findings *findings;
    struct error *err;
};

/* A size in a sentence. */
struct size_text {
    char text[UNITS_TEXT_SIZE];
};

struct size_text finding_size(const struct findings_maker *maker, int64_t bytes);
double finding_share(const struct findings_maker *maker, int64_t bytes); /* percent of the peak */

/* Adds a finding with copies of its sentences. */
bool finding_add(struct findings_maker *maker, struct finding finding, const char *next,
                 const char *what, ...) __attribute__((format(printf, 4, 5)));

/* findings_peak.c: what the peak is made up of. */
bool findings_of_peak(struct findings_maker *maker);

#endif
