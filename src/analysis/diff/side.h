/* One side of a comparison: the memory that was live on a device at a moment, summed by call site,
 * category and phase.
 *
 * All ids are in symbols that both sides share, so that they can be compared, and so that a capture
 * can be released before the other is read. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SIDE_H
#define MEMSNAP_ANALYSIS_DIFF_SIDE_H

#include "analysis/live/source.h"
#include "analysis/live/sums.h"
#include "analysis/phase/phases.h"
#include "analysis/report/report.h"

enum diff_kind {
    DIFF_PYTHON,      /* a line of Python */
    DIFF_NATIVE,      /* C++ frames only: an autograd node or an operator names it */
    DIFF_STACKLESS,   /* no stack: identified by category, and by being older than the recording */
    DIFF_UNEXPLAINED, /* left over by a trace that contradicts itself; bytes may be negative */
};

/* The identity of a call site. */
struct diff_place {
    enum diff_kind kind;
    string_id file, function; /* DIFF_NATIVE: no file; the node or the operator */
    string_id op, node;       /* node: empty for DIFF_PYTHON */
    uint32_t line;
    uint8_t category; /* enum category */
    uint8_t source;   /* enum site_source */
    bool has_backward;
};

/* One stack of a call site. */
struct diff_stack {
    stack_id stack; /* as recorded */
    stack_id bare;  /* the same, with all line numbers 0 */
    int64_t bytes;
    uint64_t count;
};

struct diff_site {
    struct diff_place place;
    struct live_source source; /* of the stack that holds the most bytes */
    int64_t bytes;
    uint64_t count;
    size_t first_stack, stack_count; /* in diff_side.stacks */
};

struct diff_sum {
    int64_t bytes;
    uint64_t count;
};

struct diff_annotation {
    string_id text; /* as live_note_text() has it */
    struct diff_sum sum;
};

/* The phase in which memory was allocated: enum phase, or one of these. */
enum {
    DIFF_PHASE_BEFORE = LIVE_PHASE_BEFORE,
    DIFF_PHASE_UNEXPLAINED,
    DIFF_PHASES,
};

/* "forward", "before_recording" */
const char *diff_phase_name(unsigned phase);

struct diff_side {
    uint32_t device;
    bool is_peak;     /* the moment is the active peak */
    bool knows_peak;  /* else that is only what was in use when the snapshot was taken */
    bool has_events;  /* the device has a trace */
    bool is_unused;   /* it has neither segments nor events but that of the snapshot */
    int64_t event;    /* of the moment: index in the file; -1: before the first */
    int64_t delay_us; /* of the moment, after the first event; TIME_NONE: unknown */
    enum phase phase; /* of the moment */
    struct moment at; /* the sums below each add up to at.active_bytes */
    int64_t reserved_peak_bytes;
    bool unused_known;    /* the layout of memory at the moment is known */
    int64_t unused_bytes; /* reserved but not active */
    bool is_cut_up;       /* a report on that moment has a section on fragmentation */
    /* At the peak, what graphs keep that no backward pass uses (dropped_graphs.h), or whose last
     * backward pass is over (retained_graphs.h). 0 at another moment. */
    int64_t dropped_bytes, retained_bytes;
    struct diff_site *sites;
    size_t site_count, site_capacity;
    struct diff_stack *stacks;
    size_t stack_count, stack_capacity;
    struct diff_sum categories[CATEGORY_LIMIT]; /* CATEGORY_COUNT: unexplained */
    struct diff_sum phases[DIFF_PHASES];
    struct diff_annotation *annotations; /* by text; what is unexplained has none */
    size_t annotation_count, annotation_capacity;
    /* how the capture was recorded */
    bool has_python, has_operators;
    bool has_forward_lines; /* memory of the backward pass is at lines of the forward pass */
    bool has_nodes;         /* memory of the backward pass is at nodes of the autograd graph */
    int64_t before_bytes;   /* live memory that is older than the recording and has no stack */
    int64_t placed_bytes;   /* live memory with a stack */
    struct diff_setting {
        string_id key, value;
    } * settings; /* of the allocator, sorted by key */
    size_t setting_count, setting_capacity;
    struct notice *notices; /* the warnings of a report on this capture */
    size_t notice_count;
    /* The same device at the peak within each phase of a step. Set for a side at its peak, if
     * requested. NULL: this side is in that phase, or the trace does not have it. */
    struct diff_side *in_phase[PHASE_COUNT]; /* malloc'ed */
    struct budget *budget;                   /* of all these arrays; not owned */
};

/* Reduces one device of a capture, at the moment that `options` name. `shared` are the symbols of
 * both sides. `in_phases` asks for `in_phase`. The result has no pointers into the capture. */
bool diff_side_make(struct diff_side *side, const struct timeline *timeline,
                    struct site_table *sites, const struct report_options *options, bool in_phases,
                    struct symbols *shared, struct budget *budget, struct error *err);
void diff_side_release(struct diff_side *side);

/* Only the phase and the call sites of a report, without stacks: all that matching needs. Site i
 * is that of the i-th row that is not a remainder. The report has all call sites (top = 0). */
bool diff_side_of_report(struct diff_side *side, const struct device_report *report,
                         const struct site_table *sites, struct symbols *shared,
                         struct budget *budget, struct error *err);
/* The same for a side made by diff_side_of_report() with the symbols `from`. */
bool diff_side_copy(struct diff_side *copy, const struct diff_side *side,
                    const struct symbols *from, struct symbols *shared, struct budget *budget,
                    struct error *err);

#endif
