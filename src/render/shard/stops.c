#include "render/shard/stops.h"

void shard_add_names(struct buffer *text, const bool are[SHARD_STRATEGIES])
{
    size_t count = 0, added = 0;
    for (int i = 0; i < SHARD_STRATEGIES; i++)
        count += are[i];
    for (int i = 0; i < SHARD_STRATEGIES; i++) {
        if (!are[i])
            continue;
        buffer_puts(text, added == 0 ? "" : added + 1 == count ? " and " : ", ");
        buffer_puts(text, shard_strategy_name((enum shard_strategy)i));
        added++;
    }
}

static bool find(const struct shard_choice *choice, enum shard_stop stop,
                 bool are[SHARD_STRATEGIES])
{
    bool any = false;
    for (int i = 0; i < SHARD_STRATEGIES; i++) {
        are[i] = choice->stops[i] == stop;
        any |= are[i];
    }
    return any;
}

bool shard_put_stops(const struct page *page, const struct shard_choice *choice)
{
    static const char *const reasons[] = {
        [SHARD_STOPS_AT_OPTIMIZER] = "the optimizer does not take its DTensors.",
        [SHARD_STOPS_AT_FROZEN] =
            "some units have both trained and frozen parameters, which do not go into one flat "
            "parameter.",
        [SHARD_STOPS_AT_TYPES] =
            "the parameters have several types. It runs if all have one, as after model.to(dtype).",
        [SHARD_STOPS_AT_HALF] =
            "FairScale's FullyShardedDataParallel takes only parameters of type float32.",
    };
    bool are[SHARD_STRATEGIES], ok = true;
    for (int i = SHARD_STOPS_AT_OPTIMIZER; ok && i <= SHARD_STOPS_AT_HALF; i++) {
        if (!find(choice, (enum shard_stop)i, are))
            continue;
        struct buffer text = BUFFER_INIT;
        buffer_puts(&text, "The code of ");
        shard_add_names(&text, are);
        buffer_printf(&text, " would stop: %s", reasons[i]);
        ok = !text.failed;
        if (ok)
            page_paragraph(page, 0, 0, text.bytes);
        buffer_release(&text);
    }
    return ok;
}
