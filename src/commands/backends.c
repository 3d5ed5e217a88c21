#include "render/backends.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/sandbox/device_process.h"
#include "solve/choice/choice.h"

enum { OPTION_FORMAT = OPTION_LONG_ONLY };

#define MOST_BACKENDS 8

/* Asks each in its own process, so that a crashing driver is reported as unavailable. */
static size_t ask_all(struct backend_row *rows)
{
    size_t count;
    for (count = 0; count < MOST_BACKENDS && backends[count]; count++) {
        rows[count].name = backends[count]->name;
        device_process_start();
        backends[count]->available(&rows[count].place);
        device_process_stop();
    }
    return count;
}

static enum status list(bool json)
{
    struct backend_row rows[MOST_BACKENDS];
    struct page page = page_for(stdout, UNIT_AUTO);
    size_t count = ask_all(rows);
    if (json ? backends_json(stdout, rows, count) : backends_text(&page, rows, count))
        return STATUS_OK;
    complain("out of memory");
    return STATUS_LIMIT;
}

static const struct option_words words[] = {
    {"format", "text json", NULL},
    {NULL, NULL, NULL},
};

static bool take_option(int option, void *json, struct error *err)
{
    unsigned format;
    (void)option;
    if (!option_word(words, "format", "format", &format, err))
        return false;
    *(bool *)json = format == 1;
    return true;
}

static enum status run(int argc, char **argv)
{
    bool json = false;
    enum status status;
    if (!options_read(&command_backends, argc, argv, take_option, &json, &status))
        return status;
    if (optind < argc)
        return complain_usage("backends: unexpected argument '%.60s'", argv[optind]);
    return list(json);
}

static const struct option_spec options[] = {
    {OPTION_FORMAT, "format", "FORMAT", "print text (the default) or json"},
    ROWS_END,
};

const struct command command_backends = {
    .name = "backends",
    .summary = "list the processors that suggest can compute on",
    .arguments = "[OPTION]...",
    .about = "Lists the processors of this machine that 'memsnap suggest' can compute on, and\n"
             "why the others are unavailable. All give the same result in different time; the\n"
             "CPU is always available.\n",
    .examples = "  memsnap backends\n"
                "  memsnap backends --format json | jq '.backends[] | select(.usable).name'\n",
    .options = options,
    .words = words,
    .run = run,
};
