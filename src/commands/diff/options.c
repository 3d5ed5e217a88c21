#include "commands/diff/options.h"

#include "base/ascii.h"
#include "commands/cli/options.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"

#define TEXT_SITES 15 /* rows without --top */
#define JSON_SITES 200

enum {
    OPTION_AT_A = OPTION_LONG_ONLY,
    OPTION_AT_B,
    OPTION_BY,
    OPTION_FAIL_OVER,
    OPTION_FORMAT,
    OPTION_STACKS,
    OPTION_TOP,
};

const struct option_spec diff_option_specs[] = {
    ROW_AT("compare this moment (default: peak):\n"),
    {OPTION_AT_A, "at-a", "WHEN", "the same for A only"},
    {OPTION_AT_B, "at-b", "WHEN", "the same for B only"},
    {OPTION_BY, "by", "WHAT",
     "print only one table: site, category, phase or\n"
     "annotation"},
    {OPTION_TOP, "top", "N", "list N call sites that changed (0: all)"},
    {OPTION_STACKS, "stacks", "[=all]",
     "print below each call site the stack that changed\n"
     "most: the operator and the Python frames, or all\n"
     "frames"},
    {OPTION_FAIL_OVER, "fail-over", "SIZE",
     "exit with status 1 if B exceeds A by more than SIZE,\n"
     "for example 100MiB, or 5% of A"},
    {OPTION_DEVICE, "device", "N[:M]", "compare only device N, or N of A with M of B"},
    {OPTION_RANGE, "range", "A:B", "look only at these events of both, as in analyze"},
    ROW_UNITS,
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default), json or csv"},
    ROW_RULES,
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY,
    ROWS_END,
};

const struct option_words diff_option_words[] = {
    {"at", WORDS_MOMENT, NULL},   {"at-a", WORDS_MOMENT, NULL},
    {"at-b", WORDS_MOMENT, NULL}, {"by", "site category phase annotation", NULL},
    {"units", WORDS_UNITS, NULL}, {"format", "text json csv", NULL},
    {NULL, NULL, NULL},
};

struct diff_settings diff_settings_default(void)
{
    return (struct diff_settings){
        .capture = {.max_memory = budget_default_limit(), .device = ALL_DEVICES},
        .devices = {ALL_DEVICES, ALL_DEVICES},
        .at_text = {"peak", "peak"},
        .fail_share = -1,
    };
}

static bool take_devices(struct diff_settings *settings, struct error *err)
{
    char first[32];
    int64_t a, b;
    const char *colon = strchr(optarg, ':');
    size_t size = colon ? (size_t)(colon - optarg) : strlen(optarg);
    if (size >= sizeof(first))
        size = sizeof(first) - 1;
    memcpy(first, optarg, size);
    first[size] = '\0';
    if (!argument_device(first, &a, err))
        return false;
    b = a;
    if (colon && !argument_device(colon + 1, &b, err))
        return false;
    settings->devices[0] = a;
    settings->devices[1] = b;
    return true;
}

static bool take_limit(struct diff_settings *settings, struct error *err)
{
    char *end;
    uint64_t bytes;
    size_t size = strlen(optarg);
    settings->fail_over = optarg;
    if (size > 1 && optarg[size - 1] == '%') {
        settings->fail_share = strtod(optarg, &end) / 100;
        if (ascii_is_digit(*optarg) && end == optarg + size - 1 && settings->fail_share < 1e6)
            return true;
    } else if (units_parse_bytes(optarg, &bytes)) {
        settings->fail_bytes = (int64_t)bytes;
        settings->fail_share = -1;
        return true;
    }
    return error_set(err, STATUS_USAGE, "invalid limit '%.60s' (for example 100MiB or 5%%)",
                     optarg);
}

static bool take_at(struct diff_settings *settings, bool a, bool b, struct error *err)
{
    struct when when;
    if (!argument_when(optarg, &when, err))
        return false;
    settings->at_given = true;
    for (int side = 0; side < 2; side++)
        if (side ? b : a) {
            settings->at[side] = when;
            settings->at_text[side] = optarg;
        }
    return true;
}

/* Options that apply to snapshots only. */
static const int for_snapshots[] = {OPTION_AT,    OPTION_AT_A,   OPTION_AT_B,
                                    OPTION_BY,    OPTION_STACKS, OPTION_DEVICE,
                                    OPTION_RANGE, OPTION_RULES,  0};

bool diff_option(int option, void *to, struct error *err)
{
    struct diff_settings *settings = to;
    unsigned index = 0;
    option_note(option, diff_option_specs, for_snapshots, &settings->snapshot_option);
    switch (option) {
    case OPTION_AT:
        return take_at(settings, true, true, err);
    case OPTION_AT_A:
        return take_at(settings, true, false, err);
    case OPTION_AT_B:
        return take_at(settings, false, true, err);
    case OPTION_BY:
        if (!option_word(diff_option_words, "by", "table", &index, err))
            return false;
        settings->by = (enum diff_by)(DIFF_BY_SITE + index);
        return true;
    case OPTION_TOP:
        settings->top_given = true;
        return argument_count("top", optarg, SIZE_MAX / 2, &settings->top, err);
    case OPTION_STACKS:
        return argument_stacks(optarg, &settings->stacks, err);
    case OPTION_FAIL_OVER:
        return take_limit(settings, err);
    case OPTION_DEVICE:
        return take_devices(settings, err);
    case OPTION_FORMAT:
        if (!option_word(diff_option_words, "format", "format", &index, err))
            return false;
        settings->format = (enum diff_format)index;
        return true;
    default:
        return shared_option(
            option,
            &(const struct shared_options){SHARED_CAPTURE(settings->capture),
                                           .rules = &settings->rules, .output = &settings->output,
                                           .unit = &settings->unit, .files = &settings->files},
            err);
    }
}

bool diff_options_complete(struct diff_settings *settings, struct error *err)
{
    if (settings->stacks != STACKS_NONE && settings->format != DIFF_TEXT)
        return error_set(err, STATUS_USAGE,
                         "--stacks needs --format text; JSON always has the frames");
    if (settings->by != DIFF_BY_ALL && settings->format == DIFF_JSON)
        return error_set(err, STATUS_USAGE, "--by needs --format text or csv; JSON has all tables");
    if (!settings->top_given && settings->format != DIFF_CSV)
        settings->top = settings->format == DIFF_JSON ? JSON_SITES : TEXT_SITES;
    if (settings->format == DIFF_JSON)
        settings->unit = UNIT_AUTO;
    return true;
}

struct diff_limit diff_limit_check(const struct diff_settings *settings, int64_t a, int64_t b)
{
    struct diff_limit limit = {
        .given = settings->fail_over, .text = settings->fail_over, .bytes = settings->fail_bytes};
    if (settings->fail_share >= 0) {
        double bytes = settings->fail_share * (double)(a > 0 ? a : 0);
        limit.bytes = bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
    }
    limit.exceeded = limit.given && diff_delta(a, b) > limit.bytes;
    return limit;
}
