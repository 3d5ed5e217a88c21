#include "commands/replay/arguments.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/units.h"

bool replay_argument_conf(struct replay_options *options, struct allocator_settings *settings,
                          struct error *err)
{
    struct error why;
    if (options->setting_count == SETTINGS_MOST)
        return error_set(err, STATUS_USAGE, "more than %d times --alloc-conf", SETTINGS_MOST);
    if (!conf_parse(optarg, &settings[options->setting_count], &why))
        return error_set(err, STATUS_USAGE, "--alloc-conf '%.60s': %.150s", optarg, why.text);
    options->setting_count++;
    options->settings = settings;
    return true;
}

bool replay_argument_size(const char *option, uint64_t *bytes, struct error *err)
{
    return units_parse_bytes(optarg, bytes) ||
           error_set(err, STATUS_USAGE, "--%s: invalid size '%.60s' (for example 40GiB)", option,
                     optarg);
}

bool replay_argument_torch(enum tie_break *tie_break, struct error *err)
{
    char *end;
    unsigned long major = strtoul(optarg, &end, 10), minor = 0;
    bool ok = ascii_is_digit(*optarg) && *end == '.' && ascii_is_digit(end[1]);
    if (ok)
        minor = strtoul(end + 1, &end, 10);
    if (!ok || (*end && *end != '.') || major < 2 || (major == 2 && minor == 0))
        return error_set(err, STATUS_USAGE, "--torch: invalid version '%.60s' (2.1 or later)",
                         optarg);
    if (major > 2 || minor > 12)
        *tie_break = TIE_SEGMENT;
    else
        *tie_break = minor == 12 ? TIE_BLOCK : TIE_ADDRESS;
    return true;
}
