#include "commands/dryrun/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dryrun/core/outcome.h"

static void read_counts(const struct dryrun_folder *folder, struct outcome *outcome)
{
    char path[PATH_MAX], word[16];
    uint64_t number;
    FILE *file = fopen(dryrun_folder_file(folder, "outcome", path), "re");
    while (file && fscanf(file, "%15s %" SCNu64, word, &number) == 2) {
        if (strcmp(word, "complete") == 0)
            outcome->is_stopped = number != 0;
        else if (strcmp(word, "steps") == 0)
            outcome->steps = number;
        else if (strcmp(word, "ooms") == 0)
            outcome->ooms = number;
        else if (strcmp(word, "resumed") == 0)
            outcome->has_resumed = number != 0;
        else if (strcmp(word, "values") == 0)
            outcome->values_read = number;
        else if (strcmp(word, "interrupted") == 0)
            outcome->is_interrupted = number != 0;
    }
    if (file)
        fclose(file);
}

static void read_reads(const struct dryrun_folder *folder, struct outcome *outcome)
{
    char path[PATH_MAX];
    FILE *file = fopen(dryrun_folder_file(folder, "reads", path), "re");
    for (size_t i = 0; file && i < sizeof(outcome->reads) / sizeof(outcome->reads[0]); i++) {
        char *line = outcome->reads[i];
        if (!fgets(line, sizeof(outcome->reads[i]), file))
            break;
        line[strcspn(line, "\n")] = '\0';
    }
    if (file)
        fclose(file);
}

/* The recorder's reason for refusing the program. */
static bool read_problem(const struct dryrun_folder *folder, struct error *err)
{
    char path[PATH_MAX], text[200] = "";
    FILE *file = fopen(dryrun_folder_file(folder, "problem", path), "re");
    if (!file)
        return false;
    bool has_text = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    error_set(err, STATUS_BAD_INPUT, "%s", has_text ? text : "the recorder could not start");
    return true;
}

static void explain_failure(const struct dryrun_folder *folder, const struct program_end *end,
                            bool is_interrupted, struct error *err)
{
    const char *more = dryrun_folder_has(folder, "torch") ? "" : " before it imported torch";
    if (is_interrupted)
        error_set(err, STATUS_IO, "the program ended with KeyboardInterrupt");
    else if (end->signal)
        error_set(err, STATUS_IO, "the program was ended by signal %d (%s)%s", end->signal,
                  strsignal(end->signal), more);
    else if (end->status == OUTCOME_STOPPED)
        error_set(err, STATUS_IO, "the dry run ended the program, as it says above");
    else
        error_set(err, STATUS_IO, "the program failed with status %d%s", end->status, more);
}

static void explain_nothing(const struct dryrun_folder *folder, uint64_t steps, struct error *err)
{
    if (!dryrun_folder_has(folder, "torch"))
        error_set(
            err, STATUS_BAD_INPUT,
            "the program did not import torch (python -E, -I and -S hide it from memsnap, and "
            "so does a command that sets PYTHONPATH)");
    else if (!dryrun_folder_has(folder, "owner") && dryrun_folder_has(folder, "other-rank"))
        error_set(err, STATUS_BAD_INPUT,
                  "no process with the rank of --rank used CUDA (see the variable RANK)");
    else if (!dryrun_folder_has(folder, "owner"))
        error_set(err, STATUS_BAD_INPUT, "the program did not use CUDA");
    else if (dryrun_folder_has(folder, "snapshot.pickle-new"))
        error_set(err, STATUS_BAD_INPUT,
                  "the process that used CUDA was killed while it wrote the snapshot");
    else if (!dryrun_folder_has(folder, "outcome"))
        error_set(err, STATUS_BAD_INPUT,
                  "the process that used CUDA was killed before it wrote a snapshot");
    else
        error_set(err, STATUS_BAD_INPUT,
                  "recording did not begin: the program made %" PRIu64
                  " optimizer steps, fewer than --late",
                  steps);
}

void outcome_read(const struct dryrun_folder *folder, const struct program_end *end,
                  struct outcome *outcome, struct error *err)
{
    *outcome = (struct outcome){.kind = OUTCOME_REFUSED};
    read_counts(folder, outcome);
    read_reads(folder, outcome);
    outcome->has_others = dryrun_folder_has(folder, "other-process");
    if (read_problem(folder, err))
        return;
    bool failed = end->signal || end->status != 0;
    bool has_snapshot = dryrun_folder_has(folder, "snapshot.pickle");
    bool went_on = outcome->is_stopped || (outcome->has_resumed && !failed && has_snapshot);
    if (!went_on && dryrun_folder_has(folder, "oom.pickle")) {
        outcome->kind = OUTCOME_OUT_OF_MEMORY;
        outcome->snapshot = "oom.pickle";
    } else if (failed && !outcome->is_stopped) {
        outcome->kind = OUTCOME_FAILED;
        outcome->snapshot = has_snapshot ? "snapshot.pickle" : NULL;
        explain_failure(folder, end, outcome->is_interrupted, err);
    } else if (has_snapshot) {
        outcome->kind = OUTCOME_FITS;
        outcome->snapshot = "snapshot.pickle";
    } else {
        explain_nothing(folder, outcome->steps, err);
    }
}
