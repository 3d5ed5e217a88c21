/* `memsnap dryrun`: runs a PyTorch program without a GPU, and analyzes the snapshot. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/cli/output.h"
#include "commands/dryrun/fit.h"
#include "commands/dryrun/outcome.h"
#include "commands/dryrun/snapshot.h"

static void list_cards(void)
{
    char size[UNITS_TEXT_SIZE];
    printf("%-9s %-25s %10s  %s\n", "name", "GPU", "memory", "compute capability");
    for (const struct card *card = cards; card->name; card++)
        printf("%-9s %-25s %10s  %d.%d\n", card->name, card->product,
               units_bytes(size, (int64_t)card->bytes, UNIT_GIB), card->major, card->minor);
}

/* Remarks on the run that the report does not contain. */
static void remark(const struct outcome *outcome, const struct dryrun_options *options)
{
    char count[UNITS_TEXT_SIZE];
    if (outcome->is_stopped)
        complain("dryrun: stopped the program after %" PRIu64 " optimizer steps", outcome->steps);
    if (outcome->kind == OUTCOME_FITS && outcome->ooms > 0)
        complain("dryrun: memory ran out %s, and the program went on",
                 units_times(count, outcome->ooms));
    if (outcome->values_read > 0)
        complain("dryrun: the program read values from the GPU %s, and got zeros: what the "
                 "program decides by them may differ on a GPU",
                 units_times(count, outcome->values_read));
    for (size_t i = 0; i < 3 && *outcome->reads[i]; i++)
        complain("dryrun:   %s", outcome->reads[i]);
    if (outcome->has_others)
        complain("dryrun: only the first process that used CUDA was recorded; another one used it, "
                 "too");
    complain("dryrun: the snapshot is in %s", options->output);
}

static enum status analyze(const struct dryrun_options *options)
{
    char memory[32];
    snprintf(memory, sizeof(memory), "%" PRIu64, dryrun_gpu_bytes(options->gpus));
    char *arguments[] = {(char *)"analyze",
                         (char *)"--gpu-memory",
                         memory,
                         (char *)"--format",
                         (char *)(options->json ? "json" : "text"),
                         (char *)"--",
                         (char *)options->output,
                         NULL};
    optind = 0; /* starts getopt again */
    return command_analyze.run(sizeof(arguments) / sizeof(arguments[0]) - 1, arguments);
}

/* Runs the program and keeps its snapshot. */
static bool run_program(const struct dryrun_options *options, char *const *arguments,
                        struct dryrun_folder *folder, struct new_file *file,
                        struct outcome *outcome, struct program_end *end, struct error *err)
{
    const struct program program = {
        .arguments = arguments,
        .folder = folder->path,
        .options = options,
        .is_silent = options->json,
    };
    if (!program_run(&program, end, err))
        return false;
    outcome_read(folder, end, outcome, err);
    if (outcome->kind == OUTCOME_FITS)
        end->interrupt = 0; /* the program took it as a wish to end */
    if (end->interrupt || !outcome->snapshot)
        return false;
    struct error reason;
    if (!dryrun_snapshot_keep(folder, outcome->snapshot, file, options->output, &reason)) {
        *err = reason;
        return false;
    }
    return true;
}

/* Everything that needs the private folder, which is gone afterwards. */
static bool dry_run(const struct dryrun_options *options, char *const *arguments,
                    struct outcome *outcome, struct error *err)
{
    char library[PATH_MAX];
    struct dryrun_folder folder;
    struct new_file file;
    if (!output_check(options->output, err) || !dryrun_find_library(library, err) ||
        !output_new_file(&file, options->output, err))
        return false;
    struct program_end end = {0};
    program_hold_signals();
    bool ok = dryrun_folder_make(&folder, options, library, err);
    if (ok) {
        ok = run_program(options, arguments, &folder, &file, outcome, &end, err);
        dryrun_folder_remove(&folder);
    }
    if (!ok)
        new_file_remove(&file);
    program_release_signals(end.interrupt);
    return ok;
}

static enum status run(int argc, char **argv)
{
    struct dryrun_options options;
    struct outcome outcome;
    struct error err;
    enum status status = STATUS_OK;
    dryrun_options_begin(&options);
    if (!options_read(&command_dryrun, argc, argv, dryrun_option, &options, &status))
        return status;
    if (options.list) {
        list_cards();
        return STATUS_OK;
    }
    if (!dryrun_options_finish(&options, &err))
        return complain_usage("dryrun: %s", err.text);
    if (optind == argc)
        return complain_usage("dryrun: missing command; try 'memsnap dryrun -- python train.py'");
    if (options.fit)
        return dryrun_fit(&options, argv + optind);
    if (options.only_fit || options.gpu_count > 1)
        return complain_usage("dryrun: %s%s needs --fit, as in --fit BATCH=1..1024",
                              options.only_fit ? "--" : "more than one GPU",
                              options.only_fit ? options.only_fit : "");
    if (!options.output)
        options.output = "dryrun.pickle";
    if (!dry_run(&options, argv + optind, &outcome, &err)) {
        complain("dryrun: %s", err.text);
        return err.status;
    }
    remark(&outcome, &options);
    if (outcome.kind == OUTCOME_FAILED) {
        complain("dryrun: %s", err.text);
        return err.status;
    }
    status = analyze(&options);
    return status != STATUS_OK                     ? status
           : outcome.kind == OUTCOME_OUT_OF_MEMORY ? STATUS_CHECK_FAILED
                                                   : STATUS_OK;
}

const struct command command_dryrun = {
    .name = "dryrun",
    .summary = "run a PyTorch program without a GPU, and explain its memory",
    .arguments = "[OPTION]... -- COMMAND [ARGUMENT]...",
    .about = "Runs your program on a machine without a GPU, and reports what memsnap analyze\n"
             "says of its snapshot. Python, PyTorch and its allocator are the real ones.\n"
             "Below them a stand-in for CUDA counts memory and computes nothing: values that\n"
             "come from the GPU are zero. It needs PyTorch's CUDA build, and neither NVIDIA's\n"
             "libraries nor a driver. The program stops after four optimizer steps.\n"
             "\n"
             "With --fit, it runs the program several times, and finds the largest value of a\n"
             "variable, such as the batch size, that fits.\n"
             "\n"
             "The exit status is 0 if the program fits into the GPU's memory, 1 if memory\n"
             "runs out, 3 if a dry run is not possible, and 5 if the program fails otherwise.\n",
    .examples = "  memsnap dryrun -- python train.py --batch 64\n"
                "  memsnap dryrun --gpu a100-40 -- python train.py      on another GPU\n"
                "  memsnap dryrun --gpu 24GiB -- python train.py        with this much memory\n"
                "  memsnap dryrun --steps 0 -- python evaluate.py       until it ends\n"
                "  memsnap dryrun --alloc-conf expandable_segments:True -- python train.py\n"
                "  memsnap dryrun --fit B=1..512 --gpu t4,a100 -- python train.py --batch {B}\n"
                "  memsnap dryrun --list                                names of GPUs\n",
    .options = dryrun_option_specs,
    .words =
        (const struct option_words[]){
            {"gpu", "h100 h200 a100 a100-40 l40s rtx4090 t4", NULL},
            {"stacks", "python all", NULL},
            {"format", "text json", NULL},
            {NULL, NULL, NULL},
        },
    .stops_at_argument = true,
    .run = run,
};
