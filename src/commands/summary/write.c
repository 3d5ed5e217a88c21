#include "commands/summary/write.h"

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "render/summary/summary.h"

static struct text bin_of(const struct gathered *item)
{
    return (struct text){item->bin, item->bin_size};
}

/* The items are in order, so equal ones stand together. */
static void put_all(FILE *out, const struct gathered_list *all)
{
    summaries_begin(out);
    for (size_t i = 0; i < all->count; i++)
        if (i == 0 || !text_same(bin_of(&all->items[i - 1]), bin_of(&all->items[i])))
            summaries_add(out, bin_of(&all->items[i]));
}

enum status summaries_write(struct inputs *inputs, const struct gather_options *options,
                            const char *output_path)
{
    struct gathering gathering;
    struct output output;
    struct error err;
    enum status status = files_open(&output, output_path, inputs);
    if (status != STATUS_OK)
        return status;
    if (!gather(&gathering, inputs, options, output.stream, &err)) {
        output_discard(&output);
        return complain_failure(&err);
    }
    status = gathering_status(&gathering);
    if (gathering.all.count > 0 && !gathering.stopped) {
        put_all(output.stream, &gathering.all);
        enum status closed = files_close(&output, true, NULL, &err);
        if (closed != STATUS_OK)
            status = closed;
    } else {
        output_discard(&output);
    }
    gathering_release(&gathering);
    return status;
}
