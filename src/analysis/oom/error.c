#include "analysis/oom/error.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/paths.h"
#include "analysis/code/site.h"
#include "analysis/oom/error_words.h"

static bool is_pinning(const struct symbols *symbols, stack_id stack)
{
    struct stack frames = symbols_stack_at(symbols, stack);
    for (size_t i = 0; i < frames.count; i++) {
        struct frame frame = symbols_frame_at(symbols, frames.frames[i]);
        if (text_find(symbols_text(symbols, frame.name), "pin_memory") ||
            text_ends(symbols_text(symbols, frame.file), "pin_memory.py"))
            return true;
    }
    return false;
}

/* True if the traceback has one of the functions, in a file whose path contains `path`. */
static bool has_function(const struct symbols *symbols, stack_id stack, const char *const *names,
                         size_t count, const char *path)
{
    struct stack frames = symbols_stack_at(symbols, stack);
    for (size_t i = 0; i < frames.count; i++) {
        struct frame frame = symbols_frame_at(symbols, frames.frames[i]);
        if (text_is_one_of(symbols_text(symbols, frame.name), names, count) &&
            text_find(symbols_text(symbols, frame.file), path))
            return true;
    }
    return false;
}

/* True if one of PyTorch's optimizers was making the states of weights that have none yet. */
static bool is_making_states(const struct symbols *symbols, stack_id stack)
{
    static const char *const names[] = {"_init_group"};
    return has_function(symbols, stack, names, 1, "torch/optim/");
}

/* True if one of PyTorch's optimizers was computing a step with lists of tensors. */
static bool is_in_foreach(const struct symbols *symbols, stack_id stack)
{
    struct stack frames = symbols_stack_at(symbols, stack);
    for (size_t i = 0; i < frames.count; i++) {
        struct frame frame = symbols_frame_at(symbols, frames.frames[i]);
        if (text_starts(symbols_text(symbols, frame.name), "_multi_tensor_") &&
            text_find(symbols_text(symbols, frame.file), "torch/optim/"))
            return true;
    }
    return false;
}

/* True if one of PyTorch's functions was computing a loss from logits. */
static bool is_computing_loss(const struct symbols *symbols, stack_id stack)
{
    static const char *const names[] = {"cross_entropy", "log_softmax", "nll_loss"};
    return has_function(symbols, stack, names, 3, "torch/nn/functional.py");
}

static bool name_asker(struct site_table *sites, stack_id stack, char **asker, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    struct site site;
    if (stack == STACK_NONE)
        return true;
    if (!site_of(sites, stack, &site, err))
        return false;
    site_label(sites, stack, &site, &text);
    *asker = text.failed ? NULL : strdup(text.size > 0 ? text.bytes : "");
    buffer_release(&text);
    return *asker || error_out_of_memory(err);
}

static bool explain(const struct oom_log *log, struct site_table *sites, enum unit unit,
                    struct oom_error *error, struct error *err)
{
    const struct oom_message *message = &error->entry->message;
    if (!name_asker(sites, message->stack, &error->asker, err))
        return false;
    oom_account_make(message, &error->account);
    error->verdict =
        oom_judge_message(message, &error->account, is_pinning(log->symbols, message->stack));
    error->makes_states = is_making_states(log->symbols, message->stack);
    error->in_foreach = is_in_foreach(log->symbols, message->stack);
    error->computes_loss = is_computing_loss(log->symbols, message->stack);
    oom_error_write_sentences(error, unit);
    return true;
}

bool oom_errors_make(const struct oom_log *log, enum unit unit, struct oom_errors *errors,
                     struct error *err)
{
    struct oom_errors made = {.items = calloc(log->count + 1, sizeof(*made.items))};
    struct site_table *sites = made.items ? site_table_create(log->symbols, err) : NULL;
    bool ok = sites || (!made.items && error_out_of_memory(err));
    for (size_t i = 0; ok && i < log->count; i++) {
        made.items[i].entry = &log->items[i];
        made.count++;
        ok = explain(log, sites, unit, &made.items[i], err);
    }
    site_table_destroy(sites);
    if (ok)
        *errors = made;
    else
        oom_errors_release(&made);
    return ok;
}

void oom_errors_release(struct oom_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        free(errors->items[i].asker);
    free(errors->items);
    *errors = (struct oom_errors){0};
}
