#include "commands/cli/complain.h"
#include "commands/export/options.h"
#include "model/device.h"

bool export_parts_make(struct export_parts *parts, const struct timeline *timeline,
                       struct site_table *sites, struct error *err)
{
    *parts = (struct export_parts){0};
    return phases_build(&parts->phases, timeline, sites, err) &&
           steps_find(&parts->steps, timeline, &parts->phases, err) &&
           categories_assign(timeline, sites, &parts->phases, &parts->categories, err);
}

void export_parts_release(struct export_parts *parts)
{
    categories_release(&parts->categories);
    steps_release(&parts->steps);
    phases_release(&parts->phases);
}

void export_tell_doubt(const char *path, uint32_t device, const char *doubt)
{
    if (doubt)
        complain("%s: %s: the result is unreliable: %s", path_name(path), DEVICE_WORDS(device),
                 doubt);
}
