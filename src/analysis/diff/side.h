/* One side of a comparison: what was live on a device at a moment, summed by call site, category
 * and phase.
 *
 * Everything is told in symbols that both sides share, so that ids compare across captures, and a
 * capture can go before the other is read. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SIDE_H
#define MEMSNAP_ANALYSIS_DIFF_SIDE_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"
#include "analysis/report/report.h"

enum diff_kind {
    DIFF_PYTHON,      /* a line of Python */
    DIFF_NATIVE,      /* C++ frames only: an autograd node or an operator names it */
    DIFF_STACKLESS,   /* no stack: told apart by category, and by whether recording had begun */
    DIFF_UNEXPLAINED, /* what a trace that contradicts itself leaves over; bytes may be negative */
};

/* What tells call sites apart. */
struct diff_place {
    enum diff_kind kind;
    string_id file, function; /* of DIFF_NATIVE: no file, and the node or the operator */
    string_id op, node;       /* node: not of DIFF_PYTHON */
    uint32_t line;
    uint8_t category; /* enum category */
    uint8_t source;   /* enum site_source */
    bool has_backward;
};

/* What one stack of a call site holds. */
struct diff_stack {
    stack_id stack; /* as recorded */
    stack_id bare;  /* the same with all line numbers 0 */
    int64_t bytes;
    uint64_t count;
};

struct diff_site {
    struct diff_place place;
    struct live_source source; /* of the stack that holds the most */
    int64_t bytes;
    uint64_t count;
    size_t first_stack, stack_count; /* in diff_side.stacks */
};

struct diff_sum {
    int64_t bytes;
    uint64_t count;
};

/* When what is live was allocated. */
enum {
    DIFF_PHASE_BEFORE = PHASE_COUNT, /* before the recording began */
    DIFF_PHASE_UNEXPLAINED,
    DIFF_PHASES,
};

/* "forward", "before_recording" */
const char *diff_phase_name(unsigned phase);

struct diff_side {
    uint32_t device;
    bool is_peak;     /* the moment is the active peak */
    bool has_events;  /* the device has a trace */
    int64_t event;    /* of the moment: its index in the file; -1: before the first */
    int64_t delay_us; /* after the first event in the file; TIME_NONE where unknown */
    enum phase phase; /* of the moment */
    struct moment at; /* active_bytes is what all below sums to */
    int64_t reserved_peak_bytes;
    bool unused_known;    /* how memory was cut up then follows from the capture */
    int64_t unused_bytes; /* of what was reserved, in holes */
    bool is_cut_up;       /* so much that a report on that moment tells of it */
    struct diff_site *sites;
    size_t site_count, site_capacity;
    struct diff_stack *stacks;
    size_t stack_count, stack_capacity;
    struct diff_sum categories[CATEGORY_LIMIT]; /* CATEGORY_COUNT: unexplained */
    struct diff_sum phases[DIFF_PHASES];
    /* how it was recorded */
    bool has_python, has_operators;
    int64_t before_bytes; /* of what is live: older than the recording, without a stack */
    int64_t placed_bytes; /* of what is live: with a stack */
    struct diff_setting {
        string_id key, value;
    } * settings; /* of the allocator, by key */
    size_t setting_count, setting_capacity;
    struct notice *notices; /* what a report on this capture would warn of */
    size_t notice_count;
    struct budget *budget; /* not owned: all above counts in it */
};

/* Of one device of a capture, at the moment that `options` name; `shared` are the symbols of both
 * sides, and `budget` theirs. Nothing of the capture is referred to afterwards. */
bool diff_side_make(struct diff_side *side, const struct timeline *timeline,
                    struct site_table *sites, const struct report_options *options,
                    struct symbols *shared, struct budget *budget, struct error *err);
void diff_side_release(struct diff_side *side);

#endif
