#include "commands/shard/values.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "commands/cli/arguments.h"
#include "dryrun/core/cards.h"

bool shard_take_gpu(struct shard_command *command, struct error *err)
{
    const struct card *card = card_find(optarg);
    if (card)
        command->gpu_bytes = card->bytes;
    else if (!units_parse_bytes(optarg, &command->gpu_bytes) || command->gpu_bytes == 0)
        return error_set(
            err, STATUS_USAGE,
            "invalid --gpu '%.60s' (a name of memsnap dryrun --list, or a size like 24GiB)",
            optarg);
    return true;
}

bool shard_take_number(const char *option, int64_t least, int64_t most, int64_t *number,
                       struct error *err)
{
    uint64_t parsed;
    if (!argument_number(option, optarg, (uint64_t)most, &parsed, err))
        return false;
    *number = (int64_t)parsed;
    return *number >= least ||
           error_set(err, STATUS_USAGE, "invalid --%s '%.60s' (expected at least %" PRId64 ")",
                     option, optarg, least);
}

bool shard_take_real(const char *option, double most, double *number, struct error *err)
{
    char *end;
    *number = strtod(optarg, &end);
    return (end > optarg && *end == '\0' && *number > 0 && *number <= most) ||
           error_set(err, STATUS_USAGE,
                     "invalid --%s '%.60s' (expected a number above 0, up to %g)", option, optarg,
                     most);
}

bool shard_take_size(const char *option, int64_t *bytes, struct error *err)
{
    uint64_t parsed;
    if (!units_parse_bytes(optarg, &parsed) || parsed > (uint64_t)SHARD_MOST_BYTES)
        return error_set(err, STATUS_USAGE, "invalid --%s '%.60s' (for example 10GiB)", option,
                         optarg);
    *bytes = (int64_t)parsed;
    return true;
}

bool shard_take_parameters(struct shard_command *command, struct error *err)
{
    static const struct {
        char letter;
        double factor;
    } units[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}};
    char *end;
    double number = strtod(optarg, &end);
    for (size_t i = 0; end > optarg && *end && i < sizeof(units) / sizeof(units[0]); i++) {
        if ((*end & ~0x20) != units[i].letter || end[1] != '\0')
            continue;
        number *= units[i].factor;
        end++;
    }
    if (end == optarg || *end || !(number >= 1 && number < (double)(SHARD_MOST_BYTES / 8)))
        return error_set(err, STATUS_USAGE,
                         "invalid --parameters '%.60s' (for example 7B; at most 1T)", optarg);
    command->sizes.elements = (int64_t)number;
    return true;
}
