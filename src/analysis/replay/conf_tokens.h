/* The tokens of PYTORCH_CUDA_ALLOC_CONF, and values of settings. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_CONF_TOKENS_H
#define MEMSNAP_ANALYSIS_REPLAY_CONF_TOKENS_H

#include "analysis/replay/allocator.h"

#define MIB        UINT64_C(1048576)
#define TOKEN_SIZE 64

/* c10/core/AllocatorConfig.h, ConfigTokenizer: these characters are tokens of their own, and spaces
 * have no meaning. A longer token than TOKEN_SIZE is cut, since none that long is valid. */
struct tokens {
    const char *at;
    char token[TOKEN_SIZE]; /* "" at the end */
    unsigned index;         /* of the token */
    struct allocator_settings *settings;
    struct error *err;
};

/* The functions below that return bool set *tokens->err if they fail. */
void conf_next_token(struct tokens *tokens);
bool conf_token_is(const struct tokens *tokens, const char *text);
/* ":VALUE" */
bool conf_take_value(struct tokens *tokens, const char *key);
bool conf_take_switch(struct tokens *tokens, const char *key, bool *on);
bool conf_whole_number(const struct tokens *tokens, const char *key, uint64_t *number);
/* A size in MiB, returned in bytes. */
bool conf_take_size(struct tokens *tokens, const char *key, uint64_t least, uint64_t *bytes);
bool conf_take_real(struct tokens *tokens, const char *key, double *number);

#endif
