#include "analysis/pool/oom_words_internal.h"

/* "private pool (0, 3) of a CUDA graph", "the default pool" */
static void say_pool(const struct words *words, const struct pool_key *key)
{
    if (pool_key_is_private(key))
        oom_say(words, "private pool (%llu, %llu) of a CUDA graph",
                (unsigned long long)key->pool[0], (unsigned long long)key->pool[1]);
    else
        oom_say(words, "the default pool");
}

/* "private pool (0, 3) of a CUDA graph", "the default pool of stream 0x7", "the default pool, for
 * requests up to 1 MiB" */
static void say_place(const struct words *words, const struct oom_elsewhere *elsewhere)
{
    const struct pool_key *key = &elsewhere->most;
    char stream[STREAM_TEXT_SIZE];
    say_pool(words, key);
    if (elsewhere->kind == ELSEWHERE_SIZES)
        oom_say(words, ", for requests %s 1 MiB", key->is_small ? "up to" : "above");
    else if (elsewhere->kind != ELSEWHERE_GRAPHS)
        oom_say(words, " of stream %s", stream_text(stream, key->stream));
}

/* "6 private pools of CUDA graphs, 168.00 MiB each", "the pools of 3 other streams, of which stream
 * 0x7 has most, 12.00 MiB" */
static void say_places(const struct words *words, const struct oom_elsewhere *elsewhere)
{
    const struct pool_key *most = &elsewhere->most;
    unsigned long long places = elsewhere->places;
    char stream[STREAM_TEXT_SIZE];
    if (elsewhere->kind == ELSEWHERE_GRAPHS)
        oom_say(words, "%llu private pools of CUDA graphs", places);
    else
        oom_say(words, "the %spools of %llu %sstreams",
                elsewhere->kind == ELSEWHERE_DEFAULT ? "default " : "", places,
                elsewhere->kind == ELSEWHERE_DEFAULT ? "" : "other ");
    if (elsewhere->least_bytes == elsewhere->most_bytes)
        oom_say(words, ", %s each", SIZE(elsewhere->most_bytes));
    else if (elsewhere->kind == ELSEWHERE_GRAPHS)
        oom_say(words, ", of which (%llu, %llu) has most, %s", (unsigned long long)most->pool[0],
                (unsigned long long)most->pool[1], SIZE(elsewhere->most_bytes));
    else
        oom_say(words, ", of which stream %s has most, %s", stream_text(stream, most->stream),
                SIZE(elsewhere->most_bytes));
}

void oom_say_elsewhere(const struct words *words, const struct oom_layout *layout)
{
    const struct oom_elsewhere *elsewhere = &layout->elsewhere;
    oom_say(words, "free, but not for this request: ");
    if (elsewhere->bytes < layout->elsewhere_bytes)
        oom_say(words, "of %s unused in other pools ", SIZE(layout->elsewhere_bytes));
    oom_say(words, "%s lie %sin ", SIZE(elsewhere->bytes),
            elsewhere->bytes < layout->elsewhere_bytes ? "" : "unused ");
    if (elsewhere->places > 1)
        say_places(words, elsewhere);
    else
        say_place(words, elsewhere);
    if (layout->largest_bytes > 0)
        oom_say(words, "; the largest hole in the pool of this request is %s",
                SIZE(layout->largest_bytes));
    else
        oom_say(words, "; the pool of this request has no hole");
}

void oom_say_elsewhere_next(const struct words *words, const struct oom_elsewhere *elsewhere,
                            const struct allocator_rules *rules)
{
    if (elsewhere->kind == ELSEWHERE_DEFAULT)
        oom_say(words, "call torch.cuda.empty_cache() before the capture: while a CUDA graph is "
                       "captured nothing is given back");
    else if (elsewhere->kind == ELSEWHERE_GRAPHS)
        oom_say(words,
                "let the CUDA graphs share one pool (torch.cuda.graph(..., pool=...)), or delete "
                "graphs that are done: until then their memory serves nothing else");
    else if (elsewhere->kind == ELSEWHERE_STREAMS)
        oom_say(words, "allocate on one stream what need not be on two: a block serves only the "
                       "stream it was made on");
    else if (rules->expandable_segments)
        oom_say(words,
                "expandable_segments is on already, but a page goes back to the device only "
                "when no block is left in it: free the long-lived blocks of that pool earlier");
    else
        oom_say(words, "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, so that unused pages "
                       "of one pool go back to the device");
}
