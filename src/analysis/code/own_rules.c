#include "analysis/code/own_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/code/regex.h"
#include "base/utf8.h"

#define RULES_MOST   1000
#define LINE_MOST    4096
#define NAME_MOST    64
#define STATES_MOST  20000 /* of all regular expressions, which bounds the time per frame */
#define ANNOTATION   "annotation "
#define SUBJECT_PART 512 /* bytes of a file's or a function's name */

struct own_rule {
    struct regex *regex;
    uint8_t category;
    bool of_annotation; /* not of a frame */
};

struct own_rules {
    struct own_rule *items;
    size_t count, states;
};

/* The position of a rule, for messages. */
struct place {
    const char *path;
    size_t line;
};

static bool bad_rule(const struct place *place, const char *what, struct error *err)
{
    return error_set(err, STATUS_USAGE, "%.80s:%zu: %s", place->path, place->line, what);
}

/* Category names are printed everywhere, so control characters are not allowed in them. */
static bool is_printable(struct text name)
{
    uint32_t code;
    for (size_t at = 0, length; at < name.size; at += length) {
        length = utf8_decode(name.bytes + at, name.size - at, UTF8_REFUSE_SURROGATES, &code);
        if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
            return false;
    }
    return true;
}

static bool name_category(struct text name, const struct place *place, uint8_t *category,
                          struct error *err)
{
    char text[NAME_MOST + 1];
    if (name.size == 0 || name.size > NAME_MOST || !is_printable(name))
        return bad_rule(place, "expected a category of 1 to 64 visible bytes before the colon",
                        err);
    memcpy(text, name.bytes, name.size);
    text[name.size] = '\0';
    if (!category_define(text, category))
        return bad_rule(place, "expected at most 53 categories of your own", err);
    return true;
}

static bool compile(struct own_rules *rules, struct text pattern, const struct place *place,
                    struct regex **regex, struct error *err)
{
    char message[160];
    const char *why = NULL;
    if (pattern.size == 0)
        return bad_rule(place, "expected a regular expression after the colon", err);
    struct regex *made = regex_compile(pattern, &why);
    if (!made && !why)
        return error_out_of_memory(err);
    if (!made) {
        snprintf(message, sizeof(message), "expected a POSIX extended regular expression: %s", why);
        return bad_rule(place, message, err);
    }
    rules->states += regex_states(made);
    if (rules->states > STATES_MOST) {
        regex_destroy(made);
        return bad_rule(place, "expected rules of at most 20000 states in all", err);
    }
    *regex = made;
    return true;
}

static bool add_line(struct own_rules *rules, struct text line, const struct place *place,
                     struct error *err)
{
    line = text_trim(line);
    if (line.size == 0 || line.bytes[0] == '#')
        return true;
    const char *colon = memchr(line.bytes, ':', line.size);
    if (!colon || line.size > LINE_MOST || memchr(line.bytes, '\0', line.size))
        return bad_rule(place, "expected 'category: regex', as in 'activation: model\\.py'", err);
    if (rules->count == RULES_MOST)
        return bad_rule(place, "expected at most 1000 rules", err);
    size_t before = (size_t)(colon - line.bytes);
    struct own_rule rule = {0};
    struct text pattern = text_trim((struct text){colon + 1, line.size - before - 1});
    rule.of_annotation = pattern.size > sizeof(ANNOTATION) - 1 &&
                         memcmp(pattern.bytes, ANNOTATION, sizeof(ANNOTATION) - 1) == 0;
    if (rule.of_annotation)
        pattern = text_trim((struct text){pattern.bytes + sizeof(ANNOTATION) - 1,
                                          pattern.size - (sizeof(ANNOTATION) - 1)});
    if (!name_category(text_trim((struct text){line.bytes, before}), place, &rule.category, err) ||
        !compile(rules, pattern, place, &rule.regex, err))
        return false;
    rules->items[rules->count++] = rule;
    return true;
}

struct own_rules *own_rules_parse(const char *path, const char *text, size_t size,
                                  struct error *err)
{
    struct own_rules *rules = calloc(1, sizeof(*rules));
    if (rules)
        rules->items = calloc(RULES_MOST, sizeof(*rules->items));
    bool ok = rules && rules->items;
    if (!ok)
        error_out_of_memory(err);
    for (struct place place = {path, 1}; ok && size > 0; place.line++) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        ok = add_line(rules, (struct text){text, length}, &place, err);
        text += length + (end != NULL);
        size -= length + (end != NULL);
    }
    if (ok)
        return rules;
    own_rules_destroy(rules);
    return NULL;
}

void own_rules_destroy(struct own_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        regex_destroy(rules->items[i].regex);
    free(rules->items);
    free(rules);
}

static uint8_t match(const struct own_rules *rules, struct text text, bool of_annotation)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].of_annotation == of_annotation &&
            regex_search(rules->items[i].regex, text))
            return rules->items[i].category;
    return OWN_RULES_NONE;
}

uint8_t own_rules_match(const struct own_rules *rules, struct text file, struct text function)
{
    char subject[2 * SUBJECT_PART + 1];
    size_t cut = file.size > SUBJECT_PART ? file.size - SUBJECT_PART : 0;
    size_t before = file.size - cut;
    size_t after = function.size < SUBJECT_PART ? function.size : SUBJECT_PART;
    memcpy(subject, file.bytes + cut, before);
    subject[before] = ':';
    memcpy(subject + before + 1, function.bytes, after);
    const struct text text = {subject, before + 1 + after};
    return match(rules, text, false);
}

uint8_t own_rules_match_annotation(const struct own_rules *rules, struct text annotation)
{
    return match(rules, text_first(annotation, SUBJECT_PART), true);
}
