#include "render/core/table.h"
#include "render/suggest/parts.h"

#define SHOWN_POINTS 16 /* points that are shown, besides knees */

/* A row of the table: a point of the front, or a point of comparison. */
struct front_line {
    int64_t peak_bytes, extra_time;
    int64_t total_bytes; /* with the gradients of parameters; -1: not known */
    const char *remark;
};

const char *suggest_comparison_remark(const char *name)
{
    if (name[0] == 'n')
        return "no checkpoints";
    return name[0] == 's' ? "sqrt(n) even segments (Chen et al.)"
                          : "FairScale, same number of segments";
}

static void add_line(struct table *table, const struct page *page, const struct problem *problem,
                     const struct front_line *line)
{
    char peak[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE],
        extra[UNITS_TEXT_SIZE];
    table_add(table, page_bytes(page, peak, line->peak_bytes));
    bool has_total = problem->has_totals && line->total_bytes >= 0;
    table_add(table,
              has_total ? page_bytes(page, total, problem->before_bytes + line->total_bytes) : "");
    table_add(table, page_share(share, line->peak_bytes, suggest_peak_without(problem)));
    table_add(table, suggest_extra(extra, problem, line->extra_time));
    table_add(table, line->remark);
}

static bool is_none(const struct front_advice *front, size_t i)
{
    const struct front_point *point = &front->front.points[i];
    return point->peak_bytes == front->comparison[0].outcome.peak_bytes && point->extra_time == 0;
}

static const char *point_remark(const struct problem *problem, const struct front_advice *front,
                                size_t i)
{
    bool is_cheap =
        problem->weighed && weighed_is_cheap(front->front.points[i].extra_time, problem->whole);
    if (is_none(front, i))
        return suggest_comparison_remark("none");
    if (front->knees[i])
        return is_cheap ? "<- knee, cheap operators only" : "<- knee";
    if (i == 0)
        return front->nested.count > 0 ? "least with one level" : "least memory";
    return is_cheap ? "cheap operators only" : "";
}

/* Points of the front between two rows of the table are omitted when there are many. */
static bool is_shown(const struct front_advice *front, size_t i)
{
    size_t count = front->front.count;
    return front->knees[i] || i == 0 || i + 1 == count || count <= SHOWN_POINTS ||
           i * SHOWN_POINTS / count != (i - 1) * SHOWN_POINTS / count;
}

/* The points of comparison between two peaks, in ascending order. */
static void add_comparisons(struct table *table, const struct page *page,
                            const struct suggest_subject *subject, const struct front_advice *front,
                            int64_t from, int64_t to)
{
    bool told[COMPARISON_POINTS] = {is_none(front, front->front.count - 1)};
    for (;;) {
        size_t least = COMPARISON_POINTS;
        for (size_t k = 0; k < COMPARISON_POINTS; k++) {
            int64_t peak = front->comparison[k].outcome.peak_bytes;
            if (!told[k] && peak >= from && peak < to &&
                (least == COMPARISON_POINTS || peak < front->comparison[least].outcome.peak_bytes))
                least = k;
        }
        if (least == COMPARISON_POINTS)
            return;
        const struct comparison_point *point = &front->comparison[least];
        struct front_line line = {point->outcome.peak_bytes, point->outcome.extra_time,
                                  point->outcome.total_bytes,
                                  suggest_comparison_remark(point->name)};
        add_line(table, page, subject->problem, &line);
        told[least] = true;
    }
}

/* Prints the command that gives a point of the front, with its exact bytes, since those in the
 * table are rounded. Above ROTOR_MOST_LAYERS layers, a budget uses a coarser chain unless a
 * one-level plan is requested. */
static void print_command(const struct page *page, const struct problem *problem, int64_t bytes,
                          const char *what)
{
    char size[UNITS_TEXT_SIZE];
    suggest_say(page, "%s, at %s: memsnap suggest %s--budget %lld", what,
                page_bytes(page, size, bytes),
                problem->chain.layers > ROTOR_MOST_LAYERS ? "--model peak " : "", (long long)bytes);
}

#define LITTLE_SHARE 100 /* one 100th of the peak without checkpoints */

static void points_text(const struct page *page, const struct suggest_subject *subject,
                        const struct front_advice *front)
{
    const struct problem *problem = subject->problem;
    const struct front_point *points = front->front.points;
    size_t count = front->front.count;
    int64_t none = points[count - 1].peak_bytes;
    if (front->nested.count == 0 && points[0].peak_bytes > none - none / LITTLE_SHARE &&
        !suggest_misses_peak(subject))
        suggest_say(page,
                    "Checkpoints between these layers save %s; between smaller ones "
                    "(--granularity leaf) they may save more.",
                    count == 1 ? "nothing" : "less than 1%");
    if (count > 1 || front->nested.count > 0)
        suggest_say(page,
                    "The plan of a point: memsnap suggest --budget BYTES. All %zu points: --format "
                    "csv or json. A picture: memsnap plot --kind pareto.",
                    count);
    if (count > 1)
        print_command(page, problem, points[0].peak_bytes,
                      front->nested.count > 0 ? "The least with one level" : "The least");
    if (front->front.least.total_bytes < points[0].total_bytes)
        suggest_say(
            page, "The least with gradients of parameters, which accumulate in the backward pass: "
                  "memsnap suggest --budget least");
    for (size_t i = 0; i < count; i++)
        if (front->knees[i])
            print_command(page, problem, points[i].peak_bytes, "A knee");
}

static void nested_text(const struct page *page, const struct problem *problem,
                        const struct front_advice *front)
{
    suggest_say(page,
                "Nested points are some of the plans with checkpoints within checkpoints, for "
                "budgets that one level cannot reach.%s",
                front->nested_holds ? "" : " --budget searches again, and may find other plans.");
    if (front->nested_holds)
        print_command(page, problem, front->nested.points[0].peak_bytes, "The first of them");
}

bool suggest_front_text(const struct page *page, const struct suggest_subject *subject,
                        const struct front_advice *front)
{
    const struct table_column columns[] = {
        {.title = "peak", .kind = COLUMN_NUMBER},
        {.title = "whole step", .kind = COLUMN_NUMBER},
        {.title = "relative", .kind = COLUMN_NUMBER, .optional = 1},
        {.title = subject->problem->timed ? "extra compute" : "recomputed", .kind = COLUMN_NUMBER},
        {.title = "", .kind = COLUMN_PROSE, .least = 18},
    };
    const struct front_point *points = front->front.points;
    size_t count = front->front.count;
    struct table table;
    int64_t told = INT64_MIN;
    suggest_head_text(page, subject);
    if (suggest_is_compiled(subject))
        return suggest_compiled_text(page, subject);
    suggest_title(page, "Memory against %s%s",
                  subject->problem->timed ? "compute" : "recomputed activations",
                  front->nested.count > 0 ? "" : ", with one level of checkpoints");
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < front->nested.count; i++) {
        const struct rotor_point *point = &front->nested.points[i];
        struct front_line line = {point->peak_bytes, point->extra_time, -1, "nested"};
        add_line(&table, page, subject->problem, &line);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(front, i))
            continue;
        struct front_line line = {points[i].peak_bytes, points[i].extra_time, points[i].total_bytes,
                                  point_remark(subject->problem, front, i)};
        add_comparisons(&table, page, subject, front, told, line.peak_bytes);
        add_line(&table, page, subject->problem, &line);
        told = line.peak_bytes;
    }
    add_comparisons(&table, page, subject, front, told, INT64_MAX);
    bool ok = !table_failed(&table);
    if (ok)
        table_print(&table, page, SUGGEST_INDENT);
    table_release(&table);
    fputc('\n', page->out);
    points_text(page, subject, front);
    if (front->nested.count > 0)
        nested_text(page, subject->problem, front);
    if (subject->forward)
        suggest_say(page,
                    "The memory that the step would reserve at these points was not replayed; "
                    "--budget replays it for a plan of one level.");
    fputc('\n', page->out);
    return ok && suggest_basis_text(page, subject);
}

void suggest_front_csv(FILE *out, const struct suggest_subject *subject,
                       const struct front_advice *front)
{
    fprintf(out, "peak_bytes,%s,kind\n",
            subject->problem->timed ? "extra_time_share" : "recomputed_share");
    for (size_t i = 0; i < front->front.count; i++)
        fprintf(out, "%lld,%.6f,%s\n", (long long)front->front.points[i].peak_bytes,
                problem_cost_share(subject->problem, front->front.points[i].extra_time),
                front->knees[i] ? "knee" : "front");
    for (size_t i = 0; i < front->nested.count; i++)
        fprintf(out, "%lld,%.6f,nested\n", (long long)front->nested.points[i].peak_bytes,
                problem_cost_share(subject->problem, front->nested.points[i].extra_time));
    for (size_t k = 0; k < COMPARISON_POINTS; k++)
        fprintf(out, "%lld,%.6f,%s\n", (long long)front->comparison[k].outcome.peak_bytes,
                problem_cost_share(subject->problem, front->comparison[k].outcome.extra_time),
                front->comparison[k].name);
}
