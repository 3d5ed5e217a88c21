#include "analysis/replay/conf_tokens.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void conf_next_token(struct tokens *tokens)
{
    size_t size = 0;
    tokens->index++;
    for (; *tokens->at; tokens->at++) {
        char c = *tokens->at;
        if (c == ' ')
            continue;
        bool is_separator = strchr(",:[]", c) != NULL;
        if (is_separator && size > 0)
            break;
        if (size < TOKEN_SIZE - 1)
            tokens->token[size++] = c;
        if (is_separator) {
            tokens->at++;
            break;
        }
    }
    tokens->token[size] = '\0';
}

bool conf_token_is(const struct tokens *tokens, const char *text)
{
    return strcmp(tokens->token, text) == 0;
}

static bool expect(struct tokens *tokens, const char *token)
{
    conf_next_token(tokens);
    if (conf_token_is(tokens, token))
        return true;
    return error_set(tokens->err, STATUS_USAGE, "expected '%s' at index %u but got '%s'", token,
                     tokens->index, tokens->token);
}

bool conf_take_value(struct tokens *tokens, const char *key)
{
    if (!expect(tokens, ":"))
        return false;
    conf_next_token(tokens);
    return tokens->token[0] != '\0' || error_set(tokens->err, STATUS_USAGE, "%s has no value", key);
}

bool conf_take_switch(struct tokens *tokens, const char *key, bool *on)
{
    if (!conf_take_value(tokens, key))
        return false;
    *on = conf_token_is(tokens, "True");
    if (*on || conf_token_is(tokens, "False"))
        return true;
    return error_set(tokens->err, STATUS_USAGE,
                     "expected 'True' or 'False' at index %u but got '%s'", tokens->index,
                     tokens->token);
}

/* torch uses std::stoull, which also accepts signs and takes what follows the digits for nothing.
 */
bool conf_whole_number(const struct tokens *tokens, const char *key, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(tokens->token, &end, 10);
    if (end == tokens->token || *end || tokens->token[0] == '-' || errno == ERANGE)
        return error_set(tokens->err, STATUS_USAGE, "%s: invalid number '%s'", key, tokens->token);
    *number = value;
    return true;
}

bool conf_take_size(struct tokens *tokens, const char *key, uint64_t least, uint64_t *bytes)
{
    uint64_t number;
    if (!conf_take_value(tokens, key) || !conf_whole_number(tokens, key, &number))
        return false;
    if (number < least)
        return error_set(tokens->err, STATUS_USAGE,
                         "CachingAllocator option %s too small, must be >= %" PRIu64, key, least);
    *bytes = number < UINT64_MAX / MIB ? number * MIB : UINT64_MAX;
    return true;
}

bool conf_take_real(struct tokens *tokens, const char *key, double *number)
{
    char *end;
    if (!conf_take_value(tokens, key))
        return false;
    *number = strtod(tokens->token, &end);
    if (end != tokens->token && !*end && *number == *number)
        return true;
    return error_set(tokens->err, STATUS_USAGE, "%s: invalid number '%s'", key, tokens->token);
}
