#include "commands/suggest/snapshot.h"
#include "model/device.h"

#define MOST_NAMES 64 /* candidates in the error for a wrong pattern */

static struct chain_options options_of(const struct cuts *cuts, size_t most, bool by_calls)
{
    static const enum chain_level levels[] = {
        [CUT_BLOCKS] = CHAIN_BLOCKS, [CUT_LOOPS] = CHAIN_LOOPS,     [CUT_LEAVES] = CHAIN_LINES,
        [CUT_DEPTH] = CHAIN_DEPTH,   [CUT_PATTERN] = CHAIN_PATTERN,
    };
    struct chain_options options = {
        .level = levels[cuts->kind], .depth = cuts->depth, .pattern = cuts->pattern, .most = most};
    if (by_calls && options.level == CHAIN_BLOCKS)
        options.level = CHAIN_CALLS;
    return options;
}

static bool explain_absence(const struct suggest_snapshot *snapshot,
                            const struct timeline *timeline, struct error *err)
{
    uint32_t device = snapshot->device;
    const struct trace *trace = timeline->trace;
    char bytes[UNITS_TEXT_SIZE];
    if (trace->unrecorded && !trace_has_lifetimes(trace))
        return error_set(err, STATUS_BAD_INPUT,
                         "the events of %s are without allocs or frees (skip_actions); record "
                         "all kinds of events",
                         DEVICE_WORDS(device));
    if (timeline->by_action[ACTION_ALLOC] == 0 && trace->count < trace->file_events)
        return error_set(err, STATUS_BAD_INPUT,
                         "%s has no allocation events in the --range; select a whole step",
                         DEVICE_WORDS(device));
    if (timeline->by_action[ACTION_ALLOC] == 0 && trace->count > 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "%s has only a state, no allocation events; record a whole step "
                         "with torch.cuda.memory._record_memory_history()",
                         DEVICE_WORDS(device));
    if (trace->count == 0)
        return error_set(err, STATUS_BAD_INPUT,
                         "%s has no events; record them with "
                         "torch.cuda.memory._record_memory_history()",
                         DEVICE_WORDS(device));
    switch (snapshot->chain.absence) {
    case CHAIN_NO_STACKS:
        return error_set(err, STATUS_BAD_INPUT,
                         "%s has no Python stacks to find layers in; record them with %s",
                         DEVICE_WORDS(device),
                         snapshot->capture.snapshot->profile.is_profile
                             ? "torch.profiler.profile(profile_memory=True, with_stack=True)"
                             : "torch.cuda.memory._record_memory_history(stacks=\"python\")");
    case CHAIN_NO_ACTIVATIONS:
        if (snapshot->chain.retained_bytes > 0)
            return error_set(err, STATUS_CHECK_FAILED,
                             "nothing to checkpoint: backward passes on %s free nothing that "
                             "forward passes save, since retain_graph=True keeps it (%s at the "
                             "peak); record without that",
                             DEVICE_WORDS(device),
                             units_bytes(bytes, snapshot->chain.retained_bytes, UNIT_AUTO));
        return error_set(err, STATUS_CHECK_FAILED,
                         "nothing to checkpoint: the backward pass on %s needs nothing that "
                         "a forward pass in the trace allocated",
                         DEVICE_WORDS(device));
    default:
        return error_set(err, STATUS_CHECK_FAILED,
                         "nothing to checkpoint: no backward pass follows a forward pass on %s "
                         "(inference?)",
                         DEVICE_WORDS(device));
    }
}

/* Sets an error that names what a pattern could match, and returns false. */
static bool explain_unmatched(const struct suggest_snapshot *snapshot,
                              const struct timeline *timeline, const struct cuts *cuts,
                              struct error *err)
{
    const struct capture *capture = &snapshot->capture;
    const struct chain_options blocks = {.level = CHAIN_BLOCKS, .most = MOST_NAMES};
    struct forward_chain chain;
    struct text names[MOST_NAMES];
    size_t count = 0;
    if (!forward_chain_build(&chain, timeline, capture->sites, &blocks, err))
        return false;
    for (; count < chain.part_count && count < MOST_NAMES; count++) {
        const struct chain_part *part = &chain.parts[count];
        names[count] =
            symbols_text(capture->snapshot->symbols,
                         part->loop == NO_LOOP ? part->name : chain.loops[part->loop].name);
    }
    forward_chain_release(&chain);
    return cuts_unmatched("granularity", cuts->pattern, "line", names, count, err);
}

/* If calls of modules do not keep most of the activations, the plan is for lines of code: then the
 * chain is cut where loops are, not at calls within their iterations. */
static bool read_chain(struct suggest_snapshot *snapshot, const struct cuts *cuts, size_t most,
                       bool by_calls, size_t inner, struct error *err)
{
    struct capture *capture = &snapshot->capture;
    const struct timeline *timeline = capture_highest(capture);
    struct chain_options chain_options = options_of(cuts, most, by_calls);
    chain_options.inner = inner;
    if (!timeline)
        return error_set(err, STATUS_BAD_INPUT, "the snapshot has no device");
    if (timeline->device == DEVICE_HOST)
        return error_set(err, STATUS_BAD_INPUT,
                         capture->snapshot->profile.is_profile
                             ? "the profile has memory of the CPU only, in which checkpoints are "
                               "not planned; profile the model on a GPU"
                             : "only pinned host memory was recorded, which checkpoints do not "
                               "change; record the device's memory as well (record_cuda=True)");
    snapshot->device = timeline->device;
    if (!forward_chain_build(&snapshot->chain, timeline, capture->sites, &chain_options, err))
        return false;
    if (snapshot->chain.absence == CHAIN_UNMATCHED)
        return explain_unmatched(snapshot, timeline, cuts, err);
    if (snapshot->chain.absence != CHAIN_FOUND)
        return explain_absence(snapshot, timeline, err);
    if (chain_options.level == CHAIN_CALLS && !forward_mostly_modules(&snapshot->chain)) {
        forward_chain_release(&snapshot->chain);
        return read_chain(snapshot, cuts, most, false, inner, err);
    }
    return forward_problem_create(&snapshot->problem, &snapshot->chain, by_calls,
                                  capture->snapshot->symbols, capture->snapshot->budget, err);
}

bool suggest_snapshot_open(struct suggest_snapshot *snapshot, struct input *input,
                           const struct capture_options *options, const struct cuts *cuts,
                           size_t most, bool by_calls, struct error *err)
{
    struct suggest_snapshot opened = {0};
    struct capture_options with_launches = *options;
    with_launches.launches = true;
    if (!capture_open_input(&opened.capture, input, &with_launches, NULL, err))
        return false;
    if (!read_chain(&opened, cuts, most, by_calls, 0, err)) {
        suggest_snapshot_close(&opened);
        return false;
    }
    *snapshot = opened;
    return true;
}

bool suggest_snapshot_deepen(const struct suggest_snapshot *snapshot, const struct cuts *cuts,
                             size_t most, bool by_calls, size_t inner,
                             struct suggest_snapshot *deeper, struct error *err)
{
    struct suggest_snapshot made = {.capture = snapshot->capture};
    if (!read_chain(&made, cuts, most, by_calls, inner, err)) {
        suggest_snapshot_drop(&made);
        return false;
    }
    *deeper = made;
    return true;
}

void suggest_snapshot_drop(struct suggest_snapshot *deeper)
{
    struct budget *budget = deeper->capture.snapshot->budget;
    forward_problem_release(&deeper->problem, budget);
    forward_chain_release(&deeper->chain);
}

void suggest_snapshot_close(struct suggest_snapshot *snapshot)
{
    struct budget *budget = snapshot->capture.snapshot->budget;
    forward_problem_release(&snapshot->problem, budget);
    forward_chain_release(&snapshot->chain);
    capture_close(&snapshot->capture);
}

bool suggest_refuse_kind(struct input *input, enum file_kind kind, struct error *err)
{
    enum encoding encoding;
    if (sniff_encoding(&input->source, &encoding, err))
        error_set(err, STATUS_BAD_INPUT,
                  "expected a layer trace, an allocator snapshot or a profiler trace%s%s",
                  kind == KIND_UNKNOWN ? "" : ", not ",
                  kind == KIND_UNKNOWN ? "" : kind_name(kind));
    input_discard(input);
    return false;
}
