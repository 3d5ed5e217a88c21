#include <string.h>

#include "analysis/diff/summary.h"

#define RECORD "torch.cuda.memory._record_memory_history()"

static bool has_notice(const struct diff_side *side, const struct notice *notice)
{
    for (size_t i = 0; i < side->notice_count; i++)
        if (strcmp(side->notices[i].text, notice->text) == 0)
            return true;
    return false;
}

/* Adds the warnings of the reports on both captures. */
static bool say_notices(struct diff *diff, struct error *err)
{
    for (int side = 0; side < 2; side++) {
        const struct diff_side *from = &diff->sides[side];
        for (size_t i = 0; i < from->notice_count; i++) {
            bool both = has_notice(&diff->sides[1 - side], &from->notices[i]);
            if (both && side == 1)
                continue;
            if (!diff_say(&diff->warnings, err, "%s: %s",
                          both   ? "A and B"
                          : side ? "B"
                                 : "A",
                          from->notices[i].text))
                return false;
        }
    }
    return true;
}

static const char *letter(bool b)
{
    return b ? "B" : "A";
}

static bool say_recording(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    if ((a->placed_bytes > 0) != (b->placed_bytes > 0) && a->at.active_bytes > 0 &&
        b->at.active_bytes > 0)
        return diff_say(&diff->warnings, err,
                        "Only %s has stacks, so call sites cannot be matched: compare by category, "
                        "or record both with " RECORD ".",
                        letter(b->placed_bytes > 0));
    if (a->has_python != b->has_python && a->placed_bytes > 0 && b->placed_bytes > 0)
        return diff_say(&diff->warnings, err,
                        "Only %s has Python stacks: call sites cannot be matched. Record both with "
                        "the same stacks= option.",
                        letter(b->has_python));
    if (a->has_operators != b->has_operators && a->placed_bytes > 0 && b->placed_bytes > 0)
        return diff_say(&diff->warnings, err,
                        "Only %s has C++ stacks (stacks=\"all\"): operators are known only there, "
                        "and call sites are matched without them.",
                        letter(b->has_operators));
    return true;
}

/* Under torch.autograd.set_detect_anomaly(), a snapshot names the forward line of what the backward
 * pass allocates. */
static bool say_anomaly_mode(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    bool of_b = b->has_forward_lines;
    if (a->has_forward_lines == of_b || !diff->sides[!of_b].has_nodes)
        return true;
    return diff_say(&diff->warnings, err,
                    "Only %s was recorded in anomaly mode: memory of the backward pass is at lines "
                    "of the forward pass there, and looks new or gone beside %s.",
                    letter(of_b), letter(!of_b));
}

static bool say_before(struct diff *diff, const struct diff_options *options, struct error *err)
{
    char bytes[UNITS_TEXT_SIZE];
    for (int side = 0; side < 2; side++) {
        const struct diff_side *late = &diff->sides[side], *other = &diff->sides[1 - side];
        if (late->before_bytes > late->at.active_bytes / 100 && other->before_bytes == 0 &&
            other->placed_bytes > 0)
            return diff_say(
                &diff->warnings, err,
                "In %s, %s was allocated before the recording and has no call site; %s was "
                "recorded from the start. Call sites that look new or gone may be part of it.",
                letter(side), units_bytes(bytes, late->before_bytes, options->unit), letter(!side));
    }
    return true;
}

static bool say_phases(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    if (!a->is_peak || !b->is_peak || a->phase == b->phase || a->phase == PHASE_UNKNOWN ||
        b->phase == PHASE_UNKNOWN)
        return true;
    return diff_say(&diff->warnings, err,
                    "The peaks are in different phases: %s in A, %s in B. --at with the name of a "
                    "phase compares its peaks.",
                    phase_name(a->phase), phase_name(b->phase));
}

/* Warns if a peak is compared with the memory in use when the other snapshot was taken. */
static bool say_unknown_peak(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    bool of_b = a->knows_peak;
    if (!a->is_peak || !b->is_peak || a->knows_peak == b->knows_peak)
        return true;
    return diff_say(&diff->warnings, err,
                    "The peak of %s is not known, because allocations were not recorded. What was "
                    "in use when its snapshot was taken is compared with the peak of %s; --at end "
                    "compares the ends.",
                    letter(of_b), letter(!of_b));
}

/* Warns if call sites could be matched by name only. */
static bool say_matched(struct diff *diff, struct error *err)
{
    bool any_stack = false, any_function = false;
    for (size_t i = 0; i < diff->rows.count; i++) {
        const struct diff_row *row = &diff->rows.items[i];
        bool placed = row->stack != STACK_NONE;
        any_stack = any_stack || (placed && row->matched == DIFF_BY_STACK);
        any_function = any_function || (placed && row->matched == DIFF_BY_FUNCTION);
    }
    return any_stack || !any_function ||
           diff_say(&diff->warnings, err,
                    "No stack is the same in both, for example because the program, its version or "
                    "its folder differs: call sites are matched only by file, line and function.");
}

bool diff_warnings_make(struct diff *diff, const struct diff_options *options, struct error *err)
{
    return say_notices(diff, err) && say_recording(diff, err) && say_anomaly_mode(diff, err) &&
           say_before(diff, options, err) && say_phases(diff, err) && say_unknown_peak(diff, err) &&
           say_matched(diff, err);
}
