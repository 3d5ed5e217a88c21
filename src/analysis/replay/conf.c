#include "analysis/replay/conf.h"

#include <string.h>

#include "analysis/replay/conf_tokens.h"
#include "model/snapshot.h"

#define OWN_SEGMENT  10 /* large_segment_size_mb must be larger */
#define DIVISION_LOG 15 /* log2 of the MiB of the last interval, 32768 MiB */

static bool is_power_of_2(uint64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

/* "[256:1,512:2,>:8]": the first value also counts below its interval, ">" above the last one. */
static bool take_intervals(struct tokens *tokens, const char *key)
{
    uint64_t *divisions = tokens->settings->rules.divisions;
    size_t last = 0;
    for (bool is_first = true;; is_first = false) {
        uint64_t interval = 0, value;
        conf_next_token(tokens);
        if (conf_token_is(tokens, "]"))
            return true;
        bool is_rest = conf_token_is(tokens, ">");
        if (!is_rest && !conf_whole_number(tokens, key, &interval))
            return false;
        if (!is_rest && !is_power_of_2(interval))
            return error_set(tokens->err, STATUS_USAGE,
                             "For roundups, the intervals have to be power of 2");
        if (!conf_take_value(tokens, key) || !conf_whole_number(tokens, key, &value))
            return false;
        if (value != 0 && !is_power_of_2(value))
            return error_set(
                tokens->err, STATUS_USAGE,
                "For roundups, the divisions has to be power of 2 or 0 to disable roundup");
        if (is_rest) {
            for (size_t i = last + 1; i < ALLOCATOR_DIVISIONS; i++)
                divisions[i] = value;
        } else {
            last = (size_t)__builtin_ctzll(interval);
            last = last < DIVISION_LOG ? last : DIVISION_LOG;
            for (size_t i = 0; is_first && i < last; i++)
                divisions[i] = value;
            divisions[last] = value;
        }
        conf_next_token(tokens);
        if (conf_token_is(tokens, "]"))
            return true;
        if (!conf_token_is(tokens, ","))
            return error_set(tokens->err, STATUS_USAGE, "%s: expected closing bracket ']'", key);
    }
}

static bool take_divisions(struct tokens *tokens, const char *key)
{
    uint64_t value;
    if (!conf_take_value(tokens, key))
        return false;
    if (conf_token_is(tokens, "["))
        return take_intervals(tokens, key);
    if (!conf_whole_number(tokens, key, &value))
        return false;
    if (!is_power_of_2(value))
        return error_set(tokens->err, STATUS_USAGE,
                         "For roundups, the divisions has to be power of 2");
    for (size_t i = 0; i < ALLOCATOR_DIVISIONS; i++)
        tokens->settings->rules.divisions[i] = value;
    return true;
}

static bool take_threshold(struct tokens *tokens, const char *key)
{
    double *value = &tokens->settings->rules.gc_threshold;
    return conf_take_real(tokens, key, value) &&
           ((*value > 0 && *value < 1) ||
            error_set(tokens->err, STATUS_USAGE,
                      "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"));
}

static bool take_fraction(struct tokens *tokens, const char *key)
{
    double *value = &tokens->settings->memory_fraction;
    return conf_take_real(tokens, key, value) &&
           ((*value >= 0 && *value <= 1) ||
            error_set(tokens->err, STATUS_USAGE, "%s is invalid, set it in [0.0, 1.0]", key));
}

static bool take_large_segment(struct tokens *tokens, const char *key)
{
    uint64_t *bytes = &tokens->settings->large_segment;
    return conf_take_size(tokens, key, 0, bytes) &&
           (*bytes > OWN_SEGMENT * MIB ||
            error_set(tokens->err, STATUS_USAGE, "CachingAllocator option %s must be > %d MB", key,
                      OWN_SEGMENT));
}

static bool take_backend(struct tokens *tokens, const char *key)
{
    if (!conf_take_value(tokens, key))
        return false;
    if (conf_token_is(tokens, "native"))
        return true;
    if (conf_token_is(tokens, "cudaMallocAsync"))
        return error_set(tokens->err, STATUS_USAGE,
                         "the driver's allocator (cudaMallocAsync) cannot be replayed");
    return error_set(tokens->err, STATUS_USAGE,
                     "Unknown allocator backend, options are native and cudaMallocAsync");
}

/* Skips settings that do not change where memory comes from. */
static bool is_harmless(const struct tokens *tokens)
{
    static const char *const keys[] = {
        "release_lock_on_cudamalloc", "expandable_segments_handle_type",
        "graph_capture_record_stream_reuse", "throw_on_cudamalloc_oom"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (conf_token_is(tokens, keys[i]))
            return true;
    return strncmp(tokens->token, "pinned_", 7) == 0;
}

static bool take_setting(struct tokens *tokens)
{
    struct allocator_settings *settings = tokens->settings;
    uint64_t least = settings->large_segment / MIB;
    char key[TOKEN_SIZE];
    memcpy(key, tokens->token, sizeof(key));
    if (conf_token_is(tokens, "expandable_segments"))
        return conf_take_switch(tokens, key, &settings->rules.expandable_segments);
    if (conf_token_is(tokens, "max_split_size_mb"))
        return conf_take_size(tokens, key, least, &settings->rules.max_split_size);
    if (conf_token_is(tokens, "max_non_split_rounding_mb"))
        return conf_take_size(tokens, key, least, &settings->non_split_rounding);
    if (conf_token_is(tokens, "large_segment_size_mb"))
        return take_large_segment(tokens, key);
    if (conf_token_is(tokens, "roundup_power2_divisions"))
        return take_divisions(tokens, key);
    if (conf_token_is(tokens, "garbage_collection_threshold"))
        return take_threshold(tokens, key);
    if (conf_token_is(tokens, "per_process_memory_fraction"))
        return take_fraction(tokens, key);
    if (conf_token_is(tokens, "backend"))
        return take_backend(tokens, key);
    if (is_harmless(tokens))
        return conf_take_value(tokens, key);
    if (strncmp(key, "expandable_segments_reserve", 27) == 0)
        return error_set(tokens->err, STATUS_USAGE, "the replay does not know %s", key);
    return error_set(tokens->err, STATUS_USAGE,
                     "Unrecognized key '%s' in Accelerator allocator config", key);
}

bool conf_parse(const char *text, struct allocator_settings *settings, struct error *err)
{
    struct allocator_settings made = ALLOCATOR_SETTINGS_DEFAULT;
    struct tokens tokens = {.at = text, .index = UINT32_MAX, .settings = &made, .err = err};
    for (;;) {
        conf_next_token(&tokens);
        if (tokens.token[0] == '\0')
            break;
        if (!take_setting(&tokens))
            return false;
        conf_next_token(&tokens);
        if (tokens.token[0] == '\0')
            break;
        if (!conf_token_is(&tokens, ","))
            return error_set(err, STATUS_USAGE, "expected ',' at index %u but got '%s'",
                             tokens.index, tokens.token);
    }
    *settings = made;
    return true;
}
