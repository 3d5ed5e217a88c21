#include "commands/cli/files.h"

#include "commands/cli/complain.h"
#include "commands/cli/small_file.h"
#include "commands/sandbox/sandbox.h"

enum status files_run(char **named, int count, const struct file_choice *choice, files_work *work,
                      void *self)
{
    struct paths paths;
    struct inputs inputs;
    struct error err;
    if (!paths_expand(&paths, named, (size_t)count, choice, &err))
        return complain_failure(&err);
    enum status status = inputs_choose(&inputs, paths.items, (int)paths.count);
    if (status == STATUS_OK) {
        status = work(self, &inputs);
        inputs_release(&inputs);
    }
    paths_release(&paths);
    return status;
}

enum status files_run_with_rules(const char *rules, struct capture_options *capture, char **named,
                                 int count, const struct file_choice *choice, files_work *work,
                                 void *self)
{
    struct own_rules *own;
    struct error err;
    if (!rules_file_read(rules, &own, &err))
        return complain_failure(&err);
    capture->rules = own;
    enum status status = files_run(named, count, choice, work, self);
    capture->rules = NULL;
    own_rules_destroy(own);
    return status;
}

enum status files_open(struct output *output, const char *path, struct inputs *inputs)
{
    struct error err;
    if (!inputs_open(inputs, &err) || !output_open(output, path, &err))
        return complain_failure(&err);
    sandbox_enter(output->file.path);
    return STATUS_OK;
}

enum status files_close(struct output *output, bool ok, const char *blamed, const struct error *err)
{
    struct error late;
    /* A write error is reported once: by output_commit(), or for standard output by
     * main(). */
    if (ok || ferror(output->stream))
        return output_commit(output, &late) ? STATUS_OK : complain_failure(&late);
    output_discard(output);
    return blamed ? complain_error(blamed, err) : complain_failure(err);
}

enum status files_write(const char *path, struct inputs *inputs, files_writer *write,
                        const void *self)
{
    struct output output;
    struct error err;
    enum status status = files_open(&output, path, inputs);
    if (status != STATUS_OK)
        return status;
    bool ok = write(self, inputs, output.stream, &err);
    return files_close(&output, ok, inputs->paths[0], &err);
}
