#include <string.h>
#include <unistd.h>

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/shard/checkpoints.h"
#include "commands/shard/load.h"
#include "render/shard/shard.h"

static bool render(const struct shard_command *command, struct shard_report *report, FILE *out,
                   struct error *err)
{
    struct page page = page_for(out, command->unit);
    const struct shard_choice *choice = report->choice;
    report->has_code = command->has_code || choice->reason != SHARD_NO_GPU;
    report->code = command->has_code ? command->code : choice->rows[choice->row].result.strategy;
    report->is_checkpointed =
        command->has_code ? command->is_checkpointed : choice->rows[choice->row].is_checkpointed;
    switch (command->format) {
    case SHARD_FORMAT_JSON:
        return shard_json(out, report, err);
    case SHARD_FORMAT_CSV:
        return (command->has_curve ? shard_curves_csv : shard_csv)(out, report, err);
    case SHARD_FORMAT_PYTHON:
        return shard_python(out, report) || error_out_of_memory(err);
    default:
        return shard_text(&page, report, err);
    }
}

static bool answer_sweep(const struct shard_command *command, const struct shard_options *options,
                         const struct shard_model *model, const struct shard_model *checkpointed,
                         FILE *out, struct error *err)
{
    struct page page = page_for(out, command->unit);
    struct shard_sweep sweep;
    bool ok;
    if (!shard_sweep_make(&sweep, model, checkpointed, options, &command->worlds, &command->batches,
                          command->gpu_bytes, err))
        return false;
    sweep.lacks_checkpoints = command->is_checkpointed && !checkpointed;
    if (command->format == SHARD_FORMAT_CSV)
        ok = shard_sweep_csv(out, &sweep, err);
    else
        ok = (command->format == SHARD_FORMAT_JSON ? shard_sweep_json(out, &sweep)
                                                   : shard_sweep_text(&page, &sweep)) ||
             error_out_of_memory(err);
    shard_sweep_release(&sweep);
    return ok;
}

static bool answer(const struct shard_command *command, const struct shard_subject *subject,
                   FILE *out, struct error *err)
{
    struct shard_choice choice;
    struct shard_options options = command->options;
    struct shard_report report = {.model = &subject->model,
                                  .options = &options,
                                  .choice = &choice,
                                  .source = subject->source,
                                  .checkpoints = subject->checkpoints,
                                  .checkpoint_count = subject->checkpoint_count,
                                  .is_recorded = command->sizes.elements == 0,
                                  .assumes_optimizer = !command->has_optimizer,
                                  .has_modules = subject->trace != NULL,
                                  .device = subject->device,
                                  .other_devices = subject->other_devices};
    const struct shard_model *checkpointed =
        subject->checkpointed.layer_count > 0 ? &subject->checkpointed : NULL;
    report.checkpointed = checkpointed;
    report.lacks_checkpoints = command->is_checkpointed && !checkpointed;
    report.has_curve = command->has_curve;
    report.has_modules_table = command->has_modules;
    options.has_master |= subject->model.master_bytes > 0;
    options.has_main_gradients |= subject->model.main_gradient_bytes > 0;
    if (command->has_sweep)
        return answer_sweep(command, &options, &subject->model, checkpointed, out, err);
    if (!shard_choose(&choice, &subject->model, checkpointed, &subject->extra, &options,
                      command->gpu_bytes, err))
        return false;
    bool ok = render(command, &report, out, err);
    shard_choice_release(&choice);
    return ok;
}

static bool answer_file(const void *self, struct inputs *inputs, FILE *out, struct error *err)
{
    const struct shard_command *command = self;
    struct shard_subject subject;
    if (!shard_load(&subject, command, inputs, err))
        return false;
    bool ok = answer(command, &subject, out, err);
    shard_unload(&subject);
    return ok;
}

static enum status shard_file(void *self, struct inputs *inputs)
{
    const struct shard_command *command = self;
    return files_write(command->output, inputs, answer_file, command);
}

static bool answer_sizes(const struct shard_command *command, FILE *out, struct error *err)
{
    struct budget budget = {.limit = command->capture.max_memory};
    struct shard_subject subject = {.source = "sizes"};
    shard_model_init(&subject.model, &budget);
    shard_model_init(&subject.checkpointed, &budget);
    bool ok = shard_model_by_hand(&subject.model, &command->sizes, err) &&
              shard_model_check(&subject.model, err) &&
              (!command->is_checkpointed || shard_add_checkpoints(&subject, NULL, err)) &&
              answer(command, &subject, out, err);
    shard_unload(&subject);
    return ok;
}

/* Reads no file. */
static enum status shard_sizes(const struct shard_command *command)
{
    struct output output;
    struct error err;
    if (!output_open(&output, command->output, &err))
        return complain_failure(&err);
    bool ok = answer_sizes(command, output.stream, &err);
    return files_close(&output, ok, NULL, &err);
}

/* Values of --sweep may follow it as arguments of their own: --sweep world=1..64 batch=1..8. Moves
 * the others to the front, and returns their number; -1 for wrong usage. */
static int take_values(struct shard_command *command, char **arguments, int count,
                       struct error *err)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool is_value =
            strncmp(arguments[i], "world=", 6) == 0 || strncmp(arguments[i], "batch=", 6) == 0;
        if (!command->has_sweep || !is_value)
            arguments[kept++] = arguments[i];
        else if (!shard_take_sweep(arguments[i], command, err))
            return -1;
    }
    return kept;
}

static bool is_sharded(enum file_kind kind)
{
    return kind == KIND_SNAPSHOT || kind == KIND_LAYER_TRACE;
}

static enum status run(int argc, char **argv)
{
    struct shard_command command;
    struct error err;
    enum status status;
    shard_command_init(&command);
    command.files = (struct file_choice){.what.kinds = is_sharded, .most = 1};
    if (!options_read(&command_shard, argc, argv, shard_option, &command, &status))
        return status;
    int files = take_values(&command, argv + optind, argc - optind, &err);
    if (files > 1 && !command.files.has_rank)
        return complain_usage("shard: expected one file");
    if (files < 0 || !shard_command_complete(&command, files > 0, &err))
        return complain_usage("shard: %s", err.text);
    if (command.sizes.elements > 0)
        return shard_sizes(&command);
    return files_run(argv + optind, files, &command.files, shard_file, &command);
}

const struct command command_shard = {
    .name = "shard",
    .summary = "predict the memory of a model sharded across GPUs",
    .arguments = "[OPTION]... [FILE]",
    .about = "Predicts the memory of every rank and its traffic under DDP,\n"
             "ZeroRedundancyOptimizer, FairScale's OSS, ShardedDataParallel and\n"
             "FullyShardedDataParallel, and torch's FullyShardedDataParallel and fully_shard,\n"
             "and prints the Python code of the cheapest that fits. FILE is a recording of a\n"
             "step on one device: a layer trace of memsnap_record.py, or an allocator snapshot\n"
             "with Python stacks; - is standard input.\n",
    .examples = "  memsnap shard --world 8 --gpu a100 trace.json\n"
                "  memsnap shard --world 64 --optimizer momentum --format json trace.json\n"
                "  memsnap shard --world 8 --gpu 24GiB --checkpointed --batch 2 trace.json\n"
                "  memsnap shard --world 8 --gpu h100 --code fsdp2 snapshot.pickle\n"
                "  memsnap shard --gpu a100 --sweep world=1..1024 batch=1..64 trace.json\n"
                "  memsnap shard --parameters 7B --layers 32 --activations 20GiB --gpu h100\n",
    .options = shard_option_specs,
    .words = shard_option_words,
    .run = run,
};
