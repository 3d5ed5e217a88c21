#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define PATIENCE_NS   NS_PER_SECOND /* nothing is shown before this */
#define REDRAW_NS     (NS_PER_SECOND / 5)
#define LINE_WIDTH    78 /* fits an 80-column terminal without wrapping */

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

/* Pads with spaces to overwrite the previous line without terminal escapes. */
static void put_line(int fd, const char *text)
{
    char line[LINE_WIDTH + 3];
    int size = snprintf(line, sizeof(line), "\r%-*.*s", LINE_WIDTH, LINE_WIDTH, text);
    /* Progress is optional: a closed terminal must not fail the program. */
    if (size > 0 && write(fd, line, (size_t)size) < 0)
        return;
}

void progress_begin(struct progress *progress, int fd)
{
    *progress = (struct progress){.fd = fd, .enabled = isatty(fd) == 1};
    if (progress->enabled)
        progress->started_ns = now_ns();
}

static void draw(const struct progress *progress, int64_t now, uint64_t done, uint64_t total)
{
    double seconds = (double)(now - progress->started_ns) / (double)NS_PER_SECOND;
    double rate = (double)done / seconds;
    char done_text[UNITS_TEXT_SIZE], rate_text[UNITS_TEXT_SIZE], total_text[UNITS_TEXT_SIZE];
    char line[4 * UNITS_TEXT_SIZE];
    units_bytes(done_text, (int64_t)(done & INT64_MAX), UNIT_AUTO);
    units_bytes(rate_text, (int64_t)rate, UNIT_AUTO);
    if (total == 0 || done > total || rate < 1.0) {
        snprintf(line, sizeof(line), "reading: %s, %s/s", done_text, rate_text);
    } else {
        units_bytes(total_text, (int64_t)(total & INT64_MAX), UNIT_AUTO);
        snprintf(line, sizeof(line), "reading: %3.0f%% of %s, %s/s, %.0f s left",
                 100.0 * (double)done / (double)total, total_text, rate_text,
                 (double)(total - done) / rate);
    }
    put_line(progress->fd, line);
}

/* True if the line should be redrawn now. */
static bool is_due(struct progress *progress, int64_t now)
{
    if (now - progress->started_ns < PATIENCE_NS || now - progress->drawn_ns < REDRAW_NS)
        return false;
    progress->drawn_ns = now;
    progress->shown = true;
    return true;
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
    if (!progress->enabled)
        return;
    int64_t now = now_ns();
    if (is_due(progress, now))
        draw(progress, now, done, total);
}

void progress_update_files(struct progress *progress, uint64_t done, uint64_t total)
{
    char done_text[UNITS_TEXT_SIZE], total_text[UNITS_TEXT_SIZE], line[4 * UNITS_TEXT_SIZE];
    if (!progress->enabled || !is_due(progress, now_ns()))
        return;
    snprintf(line, sizeof(line), "reading: %s of %s files done", units_count(done_text, done),
             units_count(total_text, total));
    put_line(progress->fd, line);
}

void progress_update_text(struct progress *progress, const char *text)
{
    if (progress->enabled && is_due(progress, now_ns()))
        put_line(progress->fd, text);
}

void progress_end(struct progress *progress)
{
    if (progress->shown) {
        put_line(progress->fd, "");
        if (write(progress->fd, "\r", 1) == 1)
            progress->shown = false;
    }
}
