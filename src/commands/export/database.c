#include "render/export/database.h"

#include "commands/cli/complain.h"
#include "commands/cli/files.h"
#include "commands/cli/watch.h"
#include "commands/export/options.h"

static bool put_device(struct export_database *database, const struct capture *capture,
                       const struct timeline *timeline, const char *path, struct error *err)
{
    struct export_parts parts;
    const char *doubt = NULL;
    bool ok = export_parts_make(&parts, timeline, capture->sites, err) &&
              export_database_device(
                  database,
                  &(struct export_device){timeline, &parts.phases, &parts.steps, &parts.categories},
                  &doubt, err);
    export_parts_release(&parts);
    if (ok)
        export_tell_doubt(path, timeline->device, doubt);
    return ok;
}

static bool put_capture(const struct capture *capture, const char *path, FILE *out,
                        struct error *err)
{
    struct export_database *database =
        export_database_begin(fileno(out), capture->snapshot, capture->sites, err);
    bool ok = database;
    for (size_t i = 0; ok && i < capture->device_count; i++)
        ok = put_device(database, capture, capture->timelines[i], path, err);
    ok = ok && export_database_end(database, err);
    export_database_release(database);
    return ok;
}

static bool put_input(const struct export_options *options, struct inputs *inputs, FILE *out,
                      bool *loaded, struct error *err)
{
    struct capture capture;
    if (!capture_open_first(&capture, inputs, &options->capture, out, "", err))
        return false;
    *loaded = true;
    bool ok = put_capture(&capture, inputs->paths[0], out, err);
    capture_close(&capture);
    return ok;
}

enum status export_to_database(const struct export_options *options, struct inputs *inputs)
{
    struct output output;
    struct error err;
    bool loaded = false, ok = false;
    enum status status = files_open(&output, options->output, inputs);
    if (status != STATUS_OK)
        return status;
    if (!output.file.path)
        error_set(&err, STATUS_USAGE, "a database needs a regular file");
    else
        ok = put_input(options, inputs, output.stream, &loaded, &err);
    bool is_input = ok || (output.file.path && !(loaded && err.status == STATUS_IO));
    return files_close(&output, ok, is_input ? inputs->paths[0] : options->output, &err);
}
