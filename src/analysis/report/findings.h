/* What to do first: where memory could be saved, by how much, and the next step.
 *
 * A finding is made of what the other parts of a report found. Bytes are those by which the active
 * peak would be lower, or reserved memory where `of_reserved`; nothing is said without any, and
 * savings overlap: they do not add up. */
#ifndef MEMSNAP_ANALYSIS_REPORT_FINDINGS_H
#define MEMSNAP_ANALYSIS_REPORT_FINDINGS_H

#include "analysis/growth/growth.h"
#include "analysis/growth/pending.h"
#include "analysis/phase/rows.h"
#include "analysis/pool/fragmentation.h"
#include "base/buffer.h"

#define FINDINGS_MOST 5

enum finding_kind {
    FINDING_ACTIVATIONS,           /* kept for backward: checkpoints would free them */
    FINDING_CASTS,                 /* of these, the copies in another dtype */
    FINDING_OPTIMIZER_TEMPORARIES, /* that make the peak fall into the optimizer step */
    FINDING_OPTIMIZER_STATE,       /* that could be sharded */
    FINDING_GRADIENTS,             /* all together */
    FINDING_KEPT_GRADIENTS,        /* from the step before */
    FINDING_GROWTH,
    FINDING_FRAGMENTATION,
    FINDING_PENDING_FREES,
    FINDING_KINDS,
};

/* "kept_gradients" */
const char *finding_kind_name(enum finding_kind kind);

struct finding {
    enum finding_kind kind;
    int64_t save_bytes; /* above 0 */
    bool at_most;       /* an upper bound; else what the trace shows */
    bool of_reserved;
    char *what, *next; /* malloc'ed sentences, raw bytes: escape before showing */
};

struct findings {
    struct finding items[FINDING_KINDS]; /* most bytes first */
    size_t count;                        /* at most FINDINGS_MOST */
};

/* What there is to find it in. */
struct evidence_of_all {
    const struct live_set *at_peak; /* NULL when the report describes another moment */
    const struct moment *peak;
    const struct phases *phases;
    const struct phase_rows *phase_rows;
    const struct growth *growth;
    const struct pending_frees *pending;
    const struct fragmentation *fragmentation;
    enum unit unit; /* of sizes in sentences */
};

bool findings_make(struct findings *findings, const struct evidence_of_all *evidence,
                   struct error *err);
void findings_release(struct findings *findings);

#endif
