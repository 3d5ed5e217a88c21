#include "commands/summary/gather.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/ranks/rank_name.h"
#include "analysis/ranks/summarize.h"
#include "base/budget.h"
#include "commands/cli/complain.h"
#include "commands/cli/watch.h"
#include "commands/cli/worker_pool.h"
#include "commands/summary/spread.h"

struct run {
    const struct gather_options *options;
    struct inputs *inputs;
    struct gather_slot *slots;
    size_t memory; /* memory limit for each file */
    struct watch watch;
    bool stopped; /* atomic: a file failed, and options->strict */
};

static bool is_elsewhere(const struct inputs *inputs, size_t index)
{
    return inputs->elsewhere && inputs->elsewhere[index];
}

bool gather_wants(enum file_kind kind)
{
    return kind_is_snapshot(kind) || kind == KIND_SUMMARY;
}

struct gathered_parts gather_parts(const struct gather_options *options)
{
    return (struct gathered_parts){.curves = options->curves,
                                   .columns = options->columns,
                                   .texts = options->texts,
                                   .bins = options->bins};
}

struct taker {
    const struct run *run;
    struct gathered_list *list;
};

static bool take_from_file(void *self, struct summary *summary, struct text bin, struct error *err)
{
    const struct taker *taker = self;
    return gathered_take(taker->list, summary, bin, gather_parts(taker->run->options), err);
}

static bool describe(struct summary *summary, const struct capture *capture, const char *path,
                     const char *pattern, struct error *err)
{
    const char *encoding = encoding_name(capture->snapshot->encoding);
    summary->input_bytes = capture->snapshot->input_bytes;
    summary->path = summary_text(summary, path, strlen(path), err);
    summary->encoding =
        summary->path ? summary_text(summary, encoding, strlen(encoding), err) : NULL;
    if (!summary->encoding)
        return false;
    enum rank_source source;
    int64_t named = rank_of_path(path, pattern, &source);
    if (summary->rank < 0 || (pattern && named >= 0))
        summary->rank = named;
    else
        source = RANK_IN_FILE;
    const char *word = rank_source_name(source);
    summary->rank_from = summary_text(summary, word, strlen(word), err);
    return summary->rank_from;
}

static bool read_capture(struct run *run, struct input *input, const char *path,
                         struct gathered_list *list, struct error *err)
{
    struct load_progress progress = {.update = watch_update, .self = &run->watch};
    struct capture capture;
    if (!capture_open_input(&capture, input, &run->options->capture, &progress, err))
        return false;
    struct summary *summary = summary_create(run->memory, err);
    bool ok = summary &&
              summarize(summary, capture.timelines, capture.device_count, capture.sites, err) &&
              describe(summary, &capture, path, run->options->rank_pattern, err);
    capture_close(&capture);
    if (ok)
        return gathered_take(list, summary, (struct text){NULL, 0}, gather_parts(run->options),
                             err);
    summary_destroy(summary);
    return false;
}

static bool open_input(const struct run *run, size_t index, struct input *input, struct error *err)
{
    int fd;
    if (index == 0 && run->options->first) {
        *input = *run->options->first;
        return true;
    }
    return inputs_take(run->inputs, index, &fd, err) && input_from_fd(input, fd, run->memory, err);
}

static bool read_input(struct run *run, size_t index, struct gather_slot *slot)
{
    struct input input;
    if (!open_input(run, index, &input, &slot->err))
        return false;
    enum file_kind kind = sniff_kind(&input.source);
    if (kind == KIND_SUMMARY)
        return summaries_load_input(&input, take_from_file, &(struct taker){run, &slot->list},
                                    &slot->err);
    if (kind == KIND_UNKNOWN || kind_is_snapshot(kind))
        return read_capture(run, &input, run->inputs->paths[index], &slot->list, &slot->err);
    input_discard(&input);
    return error_set(&slot->err, STATUS_BAD_INPUT, "expected a snapshot or summaries, not %s",
                     kind_name(kind));
}

static void do_input(void *self, size_t index, FILE *out)
{
    struct run *run = self;
    (void)out;
    if (is_elsewhere(run->inputs, index) || __atomic_load_n(&run->stopped, __ATOMIC_RELAXED))
        return;
    struct gather_slot *slot = &run->slots[index];
    slot->failed = !read_input(run, index, slot);
    if (slot->failed) {
        gathered_release(&slot->list);
        if (run->options->strict)
            __atomic_store_n(&run->stopped, true, __ATOMIC_RELAXED);
    }
    watch_input_done(&run->watch);
}

static void before_output(void *self)
{
    (void)self; /* no piece has output */
}

/* With files elsewhere, failures are reported when all are known, in order. */
static void finish_input(void *self, size_t index)
{
    struct run *run = self;
    if (!run->slots[index].failed || run->inputs->elsewhere)
        return;
    watch_hide(&run->watch, false);
    complain_error(run->inputs->paths[index], &run->slots[index].err);
}

static int in_order(const void *a, const void *b)
{
    const struct gathered *x = a, *y = b;
    int order = summary_compare(x->summary, y->summary);
    if (order != 0 || !x->bin || !y->bin)
        return order;
    return text_compare((struct text){x->bin, x->bin_size}, (struct text){y->bin, y->bin_size});
}

static bool is_number(const struct summary *summary)
{
    return strcmp(summary->rank_from, rank_source_name(RANK_NUMBER)) == 0;
}

/* Numbers at the ends of names may be ranks or anything else, which only all of them tell. */
static void settle_ranks(struct gathered_list *all)
{
    const struct summary *highest = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct summary *summary = all->items[i].summary;
        if (is_number(summary) && (!highest || summary->rank > highest->rank))
            highest = summary;
    }
    if (!highest || rank_numbers_may_be_ranks(highest->rank, all->count))
        return;
    complain("%s: the numbers at the ends of such names are not used as ranks, because %lld is "
             "too high for %zu capture%s; --rank-pattern says where ranks are",
             highest->path, (long long)highest->rank, all->count, all->count == 1 ? "" : "s");
    for (size_t i = 0; i < all->count; i++)
        if (is_number(all->items[i].summary))
            all->items[i].summary->rank = SUMMARY_UNKNOWN;
}

static bool collect(struct gathering *gathering, const struct run *run, struct error *err)
{
    size_t count = run->inputs->count;
    gathering->failures = calloc(count + 1, sizeof(*gathering->failures));
    if (!gathering->failures)
        return error_out_of_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct gather_slot *slot = &run->slots[i];
        if (slot->failed)
            gathering->failures[gathering->failure_count++] =
                (struct gather_failure){run->inputs->paths[i], slot->err};
        for (size_t j = 0; j < slot->list.count; j++) {
            struct gathered item = slot->list.items[j];
            slot->list.items[j] = (struct gathered){0};
            if (!gathered_add(&gathering->all, item, err))
                return false;
        }
        gathered_release(&slot->list);
    }
    if (!run->options->bins)
        settle_ranks(&gathering->all);
    if (gathering->all.count > 0)
        qsort(gathering->all.items, gathering->all.count, sizeof(*gathering->all.items), in_order);
    return true;
}

/* Reports failures of files elsewhere; with --strict the first one, as a process alone would. */
static void report_failures(struct run *run)
{
    for (size_t i = 0; run->inputs->elsewhere && i < run->inputs->count; i++) {
        if (!run->slots[i].failed)
            continue;
        complain_error(run->inputs->paths[i], &run->slots[i].err);
        run->stopped = run->options->strict;
        if (run->stopped)
            return;
    }
}

/* Processes on the same machine share its cores, unless each is bound to some. */
static size_t default_jobs(size_t processes)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t cores = worker_pool_cores();
    if (online > 0 && cores == (size_t)online)
        cores /= processes;
    return cores > 0 ? cores : 1;
}

static bool run_all(struct run *run, FILE *out, struct error *err)
{
    size_t processes = cluster_self() ? cluster_self()->local : 1;
    const struct pool_work work = {
        .count = run->inputs->count,
        .jobs = run->options->jobs ? run->options->jobs : default_jobs(processes),
        .out = out,
        .separator = "",
        .work = do_input,
        .before_output = before_output,
        .finish = finish_input,
        .self = run,
    };
    size_t parallel = work.jobs < work.count ? work.jobs : work.count;
    run->memory = run->options->capture.max_memory;
    if (run->memory == 0)
        run->memory = budget_default_limit() / (parallel ? parallel : 1) / processes;
    watch_begin(&run->watch, run->inputs->count, out);
    bool ok = worker_pool_run(&work, err);
    watch_end(&run->watch);
    return ok;
}

bool gather(struct gathering *gathering, struct inputs *inputs,
            const struct gather_options *options, FILE *out, struct error *err)
{
    struct gather_options own = *options;
    struct run run = {.options = &own, .inputs = inputs};
    struct gathering made = {0};
    if (options->reduced &&
        !(own.texts = made.texts = summary_texts_create(budget_default_limit(), err)))
        return false;
    run.slots = calloc(inputs->count + 1, sizeof(*run.slots));
    if (!run.slots) {
        gathering_release(&made);
        return error_out_of_memory(err);
    }
    bool ok = run_all(&run, out, err) && spread_collect(run.slots, inputs, &own, run.memory, err);
    if (ok && !spread_follows()) {
        report_failures(&run);
        ok = collect(&made, &run, err);
    }
    for (size_t i = 0; i < inputs->count; i++)
        gathered_release(&run.slots[i].list);
    free(run.slots);
    made.stopped = run.stopped;
    if (ok)
        *gathering = made;
    else
        gathering_release(&made);
    return ok;
}

void gathering_release(struct gathering *gathering)
{
    gathered_release(&gathering->all);
    free(gathering->failures);
    summary_texts_destroy(gathering->texts);
    *gathering = (struct gathering){0};
}

enum status gathering_status(const struct gathering *gathering)
{
    return gathering->failure_count > 0 ? gathering->failures[0].err.status : STATUS_OK;
}
