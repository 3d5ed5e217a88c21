#include "commands/summary/options.h"

#include <getopt.h>

#include "commands/cli/complain.h"
#include "commands/cli/folder.h"
#include "commands/summary/spread.h"

bool summary_option(int option, struct summary_options *options,
                    const struct shared_options *shared, struct error *err)
{
    switch (option) {
    case OPTION_STRICT:
        options->gather.strict = true;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    default:
        return shared_option(option, shared, err);
    }
}

struct spread_work {
    files_work *work;
    void *self;
};

static enum status share_and_work(void *self, struct inputs *inputs)
{
    const struct spread_work *spread = self;
    struct error err;
    return spread_share(inputs, &err) ? spread->work(spread->self, inputs) : complain_failure(&err);
}

enum status summary_run(struct summary_options *options, char **named, int count, files_work *work,
                        void *self)
{
    struct spread_work spread = {work, self};
    options->gather.rank_pattern = options->files.rank_pattern;
    options->files.what.kinds = gather_wants;
    options->files.has_verbose = true;
    options->files.verbose = options->verbose;
    if (spread_follows())
        return spread_follow(options->rules, &options->gather);
    return files_run_with_rules(options->rules, &options->gather.capture, named, count,
                                &options->files, share_and_work, &spread);
}
