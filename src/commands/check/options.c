#include "commands/check/options.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "commands/check/policy.h"
#include "commands/cli/arguments.h"
#include "commands/cli/options.h"
#include "commands/cli/worker_pool.h"
#include "store/store.h"

enum {
    OPTION_POLICY = OPTION_LONG_ONLY,
    OPTION_BASELINE,
    OPTION_FORMAT,
    OPTION_SOURCE_ROOT,
    OPTION_NOT_JUDGED,
    OPTION_TREND,
    OPTION_METRIC,
    OPTION_LAST,
    OPTION_ALLOC_CONF,
    OPTION_RULE, /* plus the index in check_kinds */
};

static const struct option_spec other_options[] = {
    {OPTION_BASELINE, "baseline", "FILE",
     "compare the peak with FILE's, or with that of the same\n"
     "rank in a folder (see --max-increase)"},
    {OPTION_TREND, "trend", "HISTORY",
     "check the newest run of a history instead of captures\n"
     "(see --max-jump)"},
    {OPTION_METRIC, "metric", "NAME",
     "with --trend: compare this metric (default:\n"
     "peak_active), as in memsnap trend"},
    {OPTION_LAST, "last", "N",
     "with --trend: compare with the last N earlier runs\n"
     "(default: 10; 0: all)"},
    {OPTION_ALLOC_CONF, CHECK_ALLOC_CONF, "CONF",
     "judge --max-reserved by a replay with this\n"
     "PYTORCH_CUDA_ALLOC_CONF, not by what was recorded;\n"
     "can be given several times"},
    {OPTION_POLICY, "policy", "FILE",
     "read rules from FILE, such as\n"
     "{\"schema\": \"memsnap.policy/1\", \"max-peak\": \"70GiB\"};\n"
     "an option replaces the rule of the same name"},
    {OPTION_NOT_JUDGED, CHECK_NOT_JUDGED, "WHAT",
     "what to do if a file has no data for a rule: pass\n"
     "(the default: a note says so) or error (status 2)"},
    ROW_AT("moment of categories, call sites and fragmentation\n"
           "(default: peak):\n"),
    ROW_RANGE,
    ROW_DEVICE,
    ROW_RULES,
    {OPTION_FORMAT, "format", "FORMAT",
     "print text (the default), json, junit or github\n"
     "(annotations of lines of code)"},
    {OPTION_SOURCE_ROOT, "source-root", "DIR",
     "name files relative to DIR in annotations (default:\n"
     "$GITHUB_WORKSPACE)"},
    ROW_UNITS,
    ROWS_RANK_AND_OUTPUT,
    ROW_MAX_MEMORY_OF_FILE,
    ROW_JOBS,
    ROWS_END,
};

#define LAST_RUNS 10 /* enough for a median, and recent enough to follow intended changes */

#define OTHER_OPTIONS (sizeof(other_options) / sizeof(other_options[0]))

const struct option_spec *check_option_specs(void)
{
    static struct option_spec specs[CHECK_KINDS + OTHER_OPTIONS];
    size_t count = 0;
    for (const struct check_kind *kind = check_kinds; kind->name; kind++) {
        specs[count] =
            (struct option_spec){OPTION_RULE + (int)count, kind->name, kind->argument, kind->help};
        count++;
    }
    memcpy(&specs[count], other_options, sizeof(other_options));
    return specs;
}

/* Prints "CATEGORY=" words for completion; the limit follows. */
static void put_category_words(void)
{
    for (int category = 0; category < CATEGORY_COUNT; category++)
        printf("%s%s=", category ? " " : "", category_name((enum category)category));
}

const struct option_words check_option_words[] = {
    {"max-category", NULL, put_category_words},
    {CHECK_ALLOC_CONF, WORDS_ALLOC_CONF, NULL},
    {"at", WORDS_MOMENT, NULL},
    {"format", "text json junit github", NULL},
    {CHECK_NOT_JUDGED, "pass error", NULL},
    {"units", WORDS_UNITS, NULL},
    {NULL, NULL, NULL},
};

/* Options that apply to snapshots only. */
static const int for_snapshots[] = {OPTION_AT, OPTION_RANGE, OPTION_DEVICE, OPTION_RULES, 0};

bool check_option(int option, void *to, struct error *err)
{
    struct check_options *options = to;
    unsigned format;
    option_note(option, check_option_specs(), for_snapshots, &options->snapshot_option);
    if (option >= OPTION_RULE && option < OPTION_SHARED)
        return check_rules_add(&options->rules, &check_kinds[option - OPTION_RULE], optarg, err);
    switch (option) {
    case OPTION_POLICY:
        options->policy = optarg;
        return true;
    case OPTION_TREND:
        options->trend = optarg;
        return true;
    case OPTION_METRIC:
        options->look.metric = optarg;
        return store_metric_check(optarg, err);
    case OPTION_LAST:
        options->last_given = true;
        return argument_count("last", optarg, SIZE_MAX / 2, &options->last, err);
    case OPTION_BASELINE:
        options->baseline = optarg;
        return true;
    case OPTION_AT:
        options->look.at = optarg;
        return argument_when(optarg, &options->report.at, err);
    case OPTION_RANGE:
        options->look.range = optarg;
        return window_parse(optarg, &options->capture.window, err);
    case OPTION_DEVICE:
        options->look.device = optarg;
        return argument_device(optarg, &options->capture.device, err);
    case OPTION_RULES:
        options->look.rules = optarg;
        return true;
    case OPTION_FORMAT:
        if (!option_word(check_option_words, "format", "format", &format, err))
            return false;
        options->format = (enum check_format)format;
        return true;
    case OPTION_NOT_JUDGED:
        return check_not_judged_parse(optarg, &options->rules.not_judged) ||
               error_set(err, STATUS_USAGE,
                         "invalid --" CHECK_NOT_JUDGED " '%.60s' (expected pass or error)", optarg);
    case OPTION_ALLOC_CONF:
        return check_rules_add_conf(&options->rules, optarg, err);
    case OPTION_SOURCE_ROOT:
        options->source_root = optarg;
        return true;
    default:
        return shared_option(option,
                             &(const struct shared_options){
                                 SHARED_CAPTURE(options->capture), .rules = &options->look.rules,
                                 .output = &options->output, .unit = &options->unit,
                                 .jobs = &options->jobs, .files = &options->files},
                             err);
    }
}

/* Reads the policy. Rules of the command line replace those of the same name. */
static bool take_policy(struct check_options *options, struct error *err)
{
    struct check_rules rules = {0};
    if (!options->policy)
        return true;
    if (!check_policy_read(options->policy, &rules, err))
        return false;
    if (!check_rules_merge(&rules, &options->rules, err)) {
        check_rules_release(&rules);
        return false;
    }
    options->rules = rules;
    return true;
}

/* --baseline needs a rule that uses it, and such a rule needs --baseline. */
static bool check_baseline_use(const struct check_options *options, struct error *err)
{
    const struct check_kind *kind = check_kinds; /* the first kind that needs a baseline */
    const struct check_kind *given = NULL;
    while (kind->name && !kind->needs_baseline)
        kind++;
    for (size_t i = 0; i < options->rules.count; i++)
        if (options->rules.items[i].kind->needs_baseline)
            given = options->rules.items[i].kind;
    if (options->baseline && !given)
        return error_set(err, STATUS_USAGE, "--baseline needs --%s", kind->name);
    return options->baseline || !given ||
           error_set(err, STATUS_USAGE, "%s needs --baseline FILE", given->name);
}

/* --trend needs a rule for histories, and such a rule and the options beside it need --trend. */
static bool check_trend_use(struct check_options *options, struct error *err)
{
    if (!options->last_given)
        options->last = LAST_RUNS;
    for (size_t i = 0; !options->trend && i < options->rules.count; i++)
        if (options->rules.items[i].kind->captures == CHECK_OF_HISTORY)
            return error_set(err, STATUS_USAGE, "%s needs --trend HISTORY",
                             options->rules.items[i].kind->name);
    if (options->trend && (options->baseline || options->snapshot_option))
        return error_set(err, STATUS_USAGE, "--%s does not apply to a history",
                         options->baseline ? "baseline" : options->snapshot_option);
    return options->trend || (!options->look.metric && !options->last_given) ||
           error_set(err, STATUS_USAGE, "--%s needs --trend HISTORY",
                     options->look.metric ? "metric" : "last");
}

bool check_options_complete(struct check_options *options, struct error *err)
{
    if (!take_policy(options, err) || !check_trend_use(options, err) ||
        (!options->trend && !check_baseline_use(options, err)))
        return false;
    if (options->jobs == 0)
        options->jobs = worker_pool_cores();
    options->report.unit = options->format == CHECK_JSON ? UNIT_AUTO : options->unit;
    return true;
}

void check_options_release(struct check_options *options)
{
    check_rules_release(&options->rules);
}
