#include "analysis/diff/summary.h"

#include <stdio.h>

#define NEARLY_ALL 0.9 /* share of the difference */
#define MOST       0.5
#define HOW_SIZE   (2 * UNITS_TEXT_SIZE + 64)
#define LEAST_PART 0.005 /* share of live memory; smaller changes are not mentioned */

/* A size as text, returned by value for use in format arguments. */
struct size {
    char text[UNITS_TEXT_SIZE];
};

struct writer {
    struct diff *diff;
    const struct diff_options *options;
    int64_t a, b, delta;
};

static struct size size_of(const struct writer *writer, int64_t bytes)
{
    struct size size;
    units_bytes(size.text, bytes, writer->options->unit);
    return size;
}

static struct size number(uint64_t count)
{
    struct size size;
    units_count(size.text, count);
    return size;
}

static bool headline(const struct writer *writer, struct error *err)
{
    const struct diff_side *sides = writer->diff->sides, *peaks = writer->options->peaks;
    const char *what = "Live memory at the moments compared";
    char in_phase[64];
    if (peaks) {
        if (!diff_say(&writer->diff->summary, err,
                      "The peaks are in different phases: A's %s in %s, B's %s in %s. So the peaks "
                      "of %s are compared (--at peak compares the others).",
                      size_of(writer, peaks[0].at.active_bytes).text, phase_name(peaks[0].phase),
                      size_of(writer, peaks[1].at.active_bytes).text, phase_name(peaks[1].phase),
                      phase_name(sides[1].phase)))
            return false;
        snprintf(in_phase, sizeof(in_phase), "The peak of %s", phase_name(sides[1].phase));
        what = in_phase;
    } else if (sides[0].is_peak && sides[1].is_peak && sides[0].knows_peak && sides[1].knows_peak)
        what = "The peak";
    else if (writer->options->by_end)
        what = "Live memory at the end";
    return diff_say_change(&writer->diff->summary, what, (const int64_t[]){writer->a, writer->b},
                           writer->options->unit, err);
}

/* "in 12 allocations, each 4.00 times as large", "12 allocations of the same size became 48" */
static void how(const struct diff_row *row, char text[HOW_SIZE])
{
    const char *plural = row->count[0] == 1 ? "" : "s";
    double each_a = row->count[0] ? (double)row->bytes[0] / (double)row->count[0] : 0;
    double each_b = row->count[1] ? (double)row->bytes[1] / (double)row->count[1] : 0;
    double times = each_a > 0 ? each_b / each_a : 0;
    struct size a = number(row->count[0]), b = number(row->count[1]);
    if (row->count[0] != row->count[1])
        snprintf(text, HOW_SIZE, "%s allocation%s%s became %s", a.text, plural,
                 times > 0.999 && times < 1.001 ? " of the same size" : "", b.text);
    else if (times >= 0.01 && times < 1e6)
        snprintf(text, HOW_SIZE, "in %s allocation%s, %s%.2f times as large", a.text, plural,
                 row->count[0] == 1 ? "" : "each ", times);
    else
        snprintf(text, HOW_SIZE, "in %s allocation%s", a.text, plural);
}

/* "LEAD is at model.py:88 forward (activation): 1.00 GiB became 4.10 GiB, 12 allocations of the
 * same size became 48." */
static bool describe(const struct writer *writer, const struct diff_line *line, const char *lead,
                     struct error *err)
{
    const struct diff_row *row = &line->row;
    struct diff_words *summary = &writer->diff->summary;
    bool placed = row->stack != STACK_NONE;
    const char *category = category_name(line->category);
    const char *label = placed ? line->label.brief : line->label.full;
    /* Without a stack the label is a remark in parentheses. */
    const char *first = placed ? label : category, *second = placed ? category : label;
    const char *open = placed ? " is at " : " is ", *bracket = placed ? "(" : "";
    const char *closed = placed ? ")" : "";
    if (line->change == DIFF_NEW || line->change == DIFF_GONE) {
        int side = line->change == DIFF_NEW;
        return diff_say(summary, err, "%s%s%s %s%s%s, which is %s: %s in %s allocation%s.", lead,
                        open, first, bracket, second, closed, side ? "not in A" : "no longer in B",
                        size_of(writer, row->bytes[side]).text, number(row->count[side]).text,
                        row->count[side] == 1 ? "" : "s");
    }
    char detail[HOW_SIZE];
    how(row, detail);
    return diff_say(summary, err, "%s%s%s %s%s%s: %s became %s, %s.", lead, open, first, bracket,
                    second, closed, size_of(writer, row->bytes[0]).text,
                    size_of(writer, row->bytes[1]).text, detail);
}

static int64_t bytes_without_site(const struct diff_side *side)
{
    return diff_delta(side->placed_bytes, side->at.active_bytes);
}

/* By how much more memory B lacks the call sites than A. */
static int64_t lacking(const struct diff *diff)
{
    return diff_delta(bytes_without_site(&diff->sides[0]), bytes_without_site(&diff->sides[1]));
}

static int64_t change_of_category(const struct diff *diff, enum category category)
{
    for (size_t i = 0; i < diff->category_count; i++)
        if (diff->categories[i].what == (unsigned)category)
            return diff_delta(diff->categories[i].sums[0].bytes, diff->categories[i].sums[1].bytes);
    return 0;
}

/* True if the other side most likely has the same memory without its call site, as where one
 * recording began late: so much more lacks call sites, and the category is as large. */
static bool is_only_unplaced(const struct diff *diff, const struct diff_line *line)
{
    int64_t delta = diff_delta(line->row.bytes[0], line->row.bytes[1]);
    int64_t size = diff_magnitude(delta);
    return (line->change == DIFF_NEW || line->change == DIFF_GONE) &&
           diff_magnitude(lacking(diff)) >= size / 2 &&
           diff_magnitude(change_of_category(diff, line->category)) <= size / 10;
}

#define FIRST_LINES 64 /* lines that are compared with each other */

/* True if the other side has as much in as many allocations of the category at a line that this
 * side does not have: most likely the same code, in a file or function of another name. */
static bool is_only_renamed(const struct diff *diff, const struct diff_line *line)
{
    enum diff_change opposite = line->change == DIFF_NEW ? DIFF_GONE : DIFF_NEW;
    int side = line->change == DIFF_NEW ? 1 : 0;
    if (line->change != DIFF_NEW && line->change != DIFF_GONE)
        return false;
    for (size_t i = 0; i < diff->line_count && i < FIRST_LINES; i++) {
        const struct diff_line *other = &diff->lines[i];
        if (other->change == opposite && !other->is_remainder &&
            other->category == line->category &&
            other->row.bytes[1 - side] == line->row.bytes[side] &&
            other->row.count[1 - side] == line->row.count[side])
            return true;
    }
    return false;
}

/* The largest change in the direction of the total change; NULL: none. */
static const struct diff_line *leading_line(const struct writer *writer)
{
    const struct diff *diff = writer->diff;
    bool one_has_stacks = (diff->sides[0].placed_bytes > 0) != (diff->sides[1].placed_bytes > 0);
    if (one_has_stacks && lacking(diff) != 0)
        return NULL;
    for (size_t i = 0; i < diff->line_count; i++) {
        const struct diff_line *line = &diff->lines[i];
        int64_t delta = diff_delta(line->row.bytes[0], line->row.bytes[1]);
        if (!line->is_remainder && delta != 0 && !is_only_unplaced(diff, line) &&
            !(i < FIRST_LINES && is_only_renamed(diff, line)) &&
            (writer->delta == 0 || (delta > 0) == (writer->delta > 0)))
            return line;
    }
    return NULL;
}

static bool say_where(const struct writer *writer, const struct diff_line *line, struct error *err)
{
    char lead[128];
    int64_t delta = diff_delta(line->row.bytes[0], line->row.bytes[1]);
    double share = writer->delta ? (double)delta / (double)writer->delta : 0;
    struct size size = size_of(writer, diff_magnitude(delta));
    if (writer->delta == 0)
        snprintf(lead, sizeof(lead), "Call sites changed nevertheless: the largest change (%s)",
                 size.text);
    else if (share > 1 + (1 - NEARLY_ALL))
        snprintf(lead, sizeof(lead), "More than all of it (%s), partly offset by other call sites,",
                 size.text);
    else if (share >= NEARLY_ALL)
        snprintf(lead, sizeof(lead), "%s of it (%s)", share == 1 ? "All" : "Nearly all", size.text);
    else if (share > MOST)
        snprintf(lead, sizeof(lead), "Most of it (%s)", size.text);
    else
        snprintf(lead, sizeof(lead), "The largest part (%s, %.0f%%)", size.text, 100 * share);
    return describe(writer, line, lead, err);
}

/* Reports changes in the direction opposite to the total, if they are large. */
static bool say_against(const struct writer *writer, struct error *err)
{
    const struct diff *diff = writer->diff;
    int64_t up = 0, down = 0;
    for (size_t i = 0; i < diff->changed; i++) {
        int64_t delta = diff_delta(diff->rows.items[i].bytes[0], diff->rows.items[i].bytes[1]);
        if (delta > 0)
            __builtin_add_overflow(up, delta, &up);
        else
            __builtin_sub_overflow(down, delta, &down);
    }
    int64_t against = writer->delta >= 0 ? down : up;
    if ((double)against < LEAST_PART * (double)(writer->a > writer->b ? writer->a : writer->b) ||
        against == 0 || diff_magnitude(lacking(diff)) >= diff_magnitude(against) / 2)
        return true;
    return diff_say(&writer->diff->summary, err,
                    "In total, call sites that grew or are new add %s, and those that shrank or "
                    "are gone free %s.",
                    size_of(writer, up).text, size_of(writer, down).text);
}

/* Reports that unused reserved memory grew. */
static bool say_reserved(const struct writer *writer, struct error *err)
{
    const struct diff_side *a = &writer->diff->sides[0], *b = &writer->diff->sides[1];
    const char *at = writer->options->b_at;
    int64_t more = diff_delta(a->unused_bytes, b->unused_bytes);
    char look[160] = "";
    if (!a->unused_known || !b->unused_known || more <= 0 ||
        (double)more < 0.05 * (double)writer->b)
        return true;
    if (b->is_cut_up)
        snprintf(look, sizeof(look), ": memsnap analyze%s%.60s shows the fragmentation in B",
                 at ? " --at " : "", at ? at : "");
    return diff_say(
        &writer->diff->summary, err, "Reserved but unused memory is %s in B and %s in A%s.",
        size_of(writer, b->unused_bytes).text, size_of(writer, a->unused_bytes).text, look);
}

static const char *advice(enum category category)
{
    static const char *const texts[CATEGORY_COUNT] = {
        [CATEGORY_PARAMETER] = "Parameters: compare the sizes and the dtype of the two models.",
        [CATEGORY_GRADIENT] =
            "Gradients: compare the sizes and the dtype of the parameters, and where they are "
            "set to None (optimizer.zero_grad()).",
        [CATEGORY_OPTIMIZER_STATE] =
            "Optimizer state: compare the optimizers, their options, and the number of "
            "parameters.",
        [CATEGORY_ACTIVATION] =
            "Activations: compare batch size, lengths, dtype (autocast) and checkpoints; "
            "`memsnap suggest` finds where checkpoints cost least.",
        [CATEGORY_INPUT] = "Inputs: compare the batches.",
        [CATEGORY_TEMPORARY] = "Temporaries: compare that line of code; an in-place operation, or "
                               "one that takes a part of the data at a time, needs less memory.",
        [CATEGORY_AUTOGRAD_DETAIL] =
            "Gradients passed between operators: they grow with the activations.",
        [CATEGORY_COMMUNICATION] =
            "Communication: compare bucket sizes and how many collectives run at once.",
        [CATEGORY_WORKSPACE] = "Workspaces of libraries: compare CUBLAS_WORKSPACE_CONFIG, "
                               "torch.backends.cudnn.benchmark, and the number of streams.",
        [CATEGORY_KV_CACHE] = "Keys and values: compare the number of requests, their lengths, the "
                              "dtype of the cache, and the size of its pool.",
        [CATEGORY_CAST_CACHE] = "Autocast's copies of weights: compare where autocast is on, and "
                                "convert weights that are only read once (model.to(dtype)).",
    };
    return category < CATEGORY_COUNT ? texts[category] : NULL;
}

/* Names the graphs that B keeps for nothing, if they are most of what it has more than A. Sets
 * *said to whether they are. */
static bool say_graphs(const struct writer *writer, bool *said, struct error *err)
{
    const struct diff_side *a = &writer->diff->sides[0], *b = &writer->diff->sides[1];
    int64_t dropped = diff_delta(a->dropped_bytes, b->dropped_bytes);
    int64_t retained = diff_delta(a->retained_bytes, b->retained_bytes);
    bool is_dropped = dropped >= retained;
    int64_t before = is_dropped ? a->dropped_bytes : a->retained_bytes;
    int64_t now = is_dropped ? b->dropped_bytes : b->retained_bytes;
    double more = (double)(is_dropped ? dropped : retained);
    *said = more > MOST * (double)diff_magnitude(writer->delta) &&
            more >= LEAST_PART * (double)writer->b && more > 0;
    if (!*said)
        return true;
    return diff_say(&writer->diff->next, err,
                    "Autograd graphs %s hold %s at the peak of B, and %s in A: `memsnap analyze` "
                    "names the code of B that makes them, and what to change.",
                    is_dropped ? "that no backward pass uses" : "whose last backward pass is over",
                    size_of(writer, now).text, size_of(writer, before).text);
}

static bool say_next(const struct writer *writer, const struct diff_line *line, struct error *err)
{
    struct diff_words *next = &writer->diff->next;
    const char *text = advice(line->category);
    int64_t delta = diff_delta(line->row.bytes[0], line->row.bytes[1]);
    bool said = false;
    if (delta <= 0)
        return true;
    if (!say_graphs(writer, &said, err) || (!said && text && !diff_say(next, err, "%s", text)))
        return false;
    if (line->row.stack == STACK_NONE)
        return diff_say(next, err,
                        "To see which lines of code allocated this memory, record both from the "
                        "start and with stacks: torch.cuda.memory._record_memory_history().");
    return diff_say(next, err,
                    "%s`memsnap analyze --explain` with the call site lists its allocations in one "
                    "file.",
                    writer->options->stacks ? "" : "--stacks shows the call stacks; ");
}

bool diff_summary_make(struct diff *diff, const struct diff_options *options, struct error *err)
{
    struct writer writer = {.diff = diff,
                            .options = options,
                            .a = diff->sides[0].at.active_bytes,
                            .b = diff->sides[1].at.active_bytes};
    writer.delta = diff_delta(writer.a, writer.b);
    const struct diff_line *line = leading_line(&writer);
    if (!headline(&writer, err))
        return false;
    if (line) {
        if (!say_where(&writer, line, err) || !say_against(&writer, err) ||
            !say_next(&writer, line, err))
            return false;
    } else if (diff->changed > 0 && lacking(diff) != 0) {
        if (!diff_say(&diff->summary, err,
                      "No call site is known to hold more or less: %s lacks the call sites of %s.",
                      lacking(diff) > 0 ? "B" : "A",
                      size_of(&writer, bytes_without_site(&diff->sides[lacking(diff) > 0])).text))
            return false;
    } else if (!diff_say(&diff->summary, err, "No call site holds more or less.")) {
        return false;
    }
    return say_reserved(&writer, err);
}
