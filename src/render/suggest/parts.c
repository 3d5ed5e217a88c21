#include "render/suggest/parts.h"

#include <stdarg.h>
#include <string.h>

#include "render/core/escape.h"
#include "solve/advice/advice.h"

#define LONGEST_TEXT 2048

static void paragraph(const struct page *page, size_t indent, const char *format, va_list args)
{
    char text[LONGEST_TEXT];
    vsnprintf(text, sizeof(text), format, args);
    fprintf(page->out, "%*s", (int)indent, "");
    page_paragraph(page, indent, indent, text);
}

void suggest_say(const struct page *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    paragraph(page, SUGGEST_INDENT, format, args);
    va_end(args);
}

void suggest_title(const struct page *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs(page_style(page, STYLE_TITLE), page->out);
    paragraph(page, 0, format, args);
    fputs(page_plain(page), page->out);
    va_end(args);
}

static size_t last_bracket(struct text text)
{
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != '[')
        at--;
    return at > 0 ? at - 1 : 0;
}

/* Length of the common prefix of names such as "model.py:9 forward [0]" and "model.py:9 forward
 * [7]", up to the last bracket; 0 if they differ before it. */
static size_t same_loop(struct text a, struct text b)
{
    size_t x = last_bracket(a), y = last_bracket(b);
    if (x == 0 || x != y || b.bytes[b.size - 1] != ']')
        return 0;
    return memcmp(a.bytes, b.bytes, x) == 0 ? x : 0;
}

void suggest_add_name(struct buffer *out, struct text name)
{
    if (name.size == 0)
        buffer_puts(out, "(the model)");
    escape_text(out, name.bytes, name.size);
}

void suggest_add_span(struct buffer *out, const struct problem *problem, size_t first, size_t end)
{
    struct text from = problem->modules[problem->pieces[first].first_module];
    struct text to = problem->modules[problem->pieces[end - 1].end_module - 1];
    suggest_add_name(out, from);
    if (problem->pieces[first].first_module + 1 == problem->pieces[end - 1].end_module)
        return;
    size_t same = same_loop(from, to);
    buffer_puts(out, " .. ");
    suggest_add_name(out, (struct text){to.bytes + same, to.size - same});
}

const char *suggest_extra(char out[UNITS_TEXT_SIZE], const struct problem *problem, int64_t time)
{
    snprintf(out, UNITS_TEXT_SIZE, "%.1f%%", 100 * problem_cost_share(problem, time));
    return out;
}

int64_t suggest_peak_without(const struct problem *problem)
{
    return problem->recorded ? problem->no_checkpoint_bytes : peak_without(&problem->chain);
}

const char *suggest_cost(char out[SUGGEST_COST], const struct problem *problem, int64_t time)
{
    char share[UNITS_TEXT_SIZE];
    suggest_extra(share, problem, time);
    bool is_cheap = problem->weighed && time > 0 && weighed_is_cheap(time, problem->whole);
    snprintf(out, SUGGEST_COST,
             problem->timed ? "with %s more compute"
             : is_cheap     ? "recomputing %s of activations, by cheap operators"
                            : "recomputing %s of activations",
             share);
    return out;
}

void suggest_put_cost(struct json_writer *json, const struct problem *problem, int64_t time)
{
    json_put_real(json, problem->timed ? "extra_time_share" : "recomputed_share",
                  problem_cost_share(problem, time));
}

bool suggest_is_compiled(const struct suggest_subject *subject)
{
    return subject->forward && subject->forward->compiled && !subject->problem->by_calls;
}
