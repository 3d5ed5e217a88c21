#include "commands/cli/watch.h"

#include <unistd.h>

void watch_begin(struct watch *watch, size_t inputs, FILE *out)
{
    *watch = (struct watch){.inputs = inputs, .out_is_terminal = isatty(fileno(out)) == 1};
    pthread_mutex_init(&watch->lock, NULL);
    progress_begin(&watch->progress, STDERR_FILENO);
}

static void show_inputs(struct watch *watch)
{
    if (!watch->stopped && watch->inputs > 1)
        progress_update_files(&watch->progress, watch->done, watch->inputs);
}

void watch_update(void *self, uint64_t bytes_read, uint64_t total)
{
    struct watch *watch = self;
    if (pthread_mutex_trylock(&watch->lock) != 0)
        return; /* another thread is printing */
    if (watch->inputs > 1)
        show_inputs(watch);
    else
        progress_update(&watch->progress, bytes_read, total);
    pthread_mutex_unlock(&watch->lock);
}

void watch_input_done(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->done++;
    show_inputs(watch);
    pthread_mutex_unlock(&watch->lock);
}

void watch_hide(struct watch *watch, bool to_out)
{
    pthread_mutex_lock(&watch->lock);
    progress_end(&watch->progress);
    watch->stopped = watch->stopped || (to_out && watch->out_is_terminal);
    pthread_mutex_unlock(&watch->lock);
}

void watch_end(struct watch *watch)
{
    progress_end(&watch->progress);
    pthread_mutex_destroy(&watch->lock);
}
