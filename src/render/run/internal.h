/* The rows of the report of a run. context->user is the struct run_report. */
#ifndef MEMSNAP_RENDER_RUN_INTERNAL_H
#define MEMSNAP_RENDER_RUN_INTERNAL_H

#include "analysis/run/tables.h"
#include "render/core/rows.h"
#include "render/run/run.h"

extern const struct row_type run_file_type;          /* struct run_file */
extern const struct row_type run_call_type;          /* struct run_row: the device; text only */
extern const struct row_type run_host_type;          /* struct run_row: the host; text only */
extern const struct row_type run_rank_type;          /* struct run_rank; its highest figures */
extern const struct row_type run_snapshot_type;      /* struct run_snapshot */
extern const struct row_type run_trace_type;         /* struct run_trace */
extern const struct row_type run_oom_type;           /* the same; text only */
extern const struct row_type run_outlier_type;       /* struct run_outlier */
extern const struct row_type run_inconsistency_type; /* struct run_inconsistency */

/* "files", as in JSON, and a sentence about what was compared. */
const char *run_check_name(unsigned check);
const char *run_check_words(enum run_check check);

/* A heading after an empty line. The text is escaped. */
void run_title(const struct page *page, const char *text);

bool run_print_tables(const struct page *page, const struct run_analysis *analysis);
bool run_put_tables(struct json_writer *json, const struct run_report *report,
                    const struct run_rank *rank);

struct field_context run_context(const struct run_report *report);

#endif
