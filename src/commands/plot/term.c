#define _GNU_SOURCE /* memfd_create */
#include "commands/plot/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "commands/cli/complain.h"
#include "commands/plot/process.h"
#include "render/core/escape.h"

#define PATIENCE       500 /* milliseconds */
#define SIXEL          4   /* the number of sixel graphics in an answer to DA1 */
#define LEAST_COLUMNS  40
#define MOST_COLUMNS   1000
#define LEAST_ROWS     12
#define MOST_ROWS      500
#define COMMON_COLUMNS 80
#define COMMON_ROWS    24

#define LINES_LEFT    2 /* lines for the command and the next prompt */
#define COMMON_WIDTH  800
#define COMMON_HEIGHT 450
#define MOST_WIDTH    1600
#define MOST_HEIGHT   900
#define PICTURE_MOST  (64 << 20) /* bytes; a sixel image has about 100 KB */

struct terminal_size {
    unsigned columns, rows; /* $COLUMNS and $LINES, the terminal's own, or 80 by 24 */
    unsigned width, height; /* pixels; 0 if unknown */
};

/* One dimension: from the variable, else from the terminal, else the default. */
static unsigned side(const char *variable, unsigned told, unsigned common, unsigned least,
                     unsigned most)
{
    const char *text = getenv(variable);
    unsigned long size = text ? strtoul(text, NULL, 10) : 0;
    if (size == 0)
        size = told > 0 ? told : common;
    return size < least ? least : size > most ? most : (unsigned)size;
}

/* The size of the terminal that `fd` is open on. */
static struct terminal_size terminal_size(int fd)
{
    struct winsize told = {0};
    if (ioctl(fd, TIOCGWINSZ, &told) != 0)
        told = (struct winsize){0};
    return (struct terminal_size){
        .columns = side("COLUMNS", told.ws_col, COMMON_COLUMNS, LEAST_COLUMNS, MOST_COLUMNS),
        .rows = side("LINES", told.ws_row, COMMON_ROWS, LEAST_ROWS, MOST_ROWS),
        .width = told.ws_xpixel,
        .height = told.ws_ypixel,
    };
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True if an answer such as "ESC [ ? 62 ; 4 ; 6 c" has the number of sixel graphics. */
static bool names_sixel(const char *answer)
{
    const char *at = strstr(answer, "\x1b[?");
    if (!at || !strchr(at, 'c'))
        return false;
    for (at += 3; ascii_is_digit(*at);) {
        char *end;
        if (strtoul(at, &end, 10) == SIXEL)
            return true;
        at = *end == ';' ? end + 1 : end;
    }
    return false;
}

/* The terminal must be in raw mode. */
static bool ask(int tty)
{
    static const char question[] = "\x1b[c";
    char answer[128];
    size_t used = 0;
    int typed = 0;
    if (ioctl(tty, FIONREAD, &typed) != 0 || typed > 0 ||
        write(tty, question, sizeof(question) - 1) != sizeof(question) - 1)
        return false;
    for (int64_t end = milliseconds() + PATIENCE, now; (now = milliseconds()) < end;) {
        struct pollfd wait = {.fd = tty, .events = POLLIN};
        if (poll(&wait, 1, (int)(end - now)) <= 0)
            continue;
        ssize_t count = read(tty, answer + used, sizeof(answer) - 1 - used);
        if (count <= 0)
            return false;
        used += (size_t)count;
        answer[used] = '\0';
        if (strchr(answer, 'c') || used == sizeof(answer) - 1)
            return names_sixel(answer);
    }
    return false;
}

/* Asks the terminal for its attributes (DA1) and returns true if it supports sixels; waits at most
 * half a second. Returns false without asking if standard output is not a terminal, $TERM is dumb,
 * the process is in the background, or typed input is waiting. */
static bool terminal_has_sixel(void)
{
    const char *term = getenv("TERM");
    struct termios before, raw;
    sigset_t all, mask;
    bool has = false;
    if (isatty(STDOUT_FILENO) != 1 || !term || !*term || strcmp(term, "dumb") == 0)
        return false;
    int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (tty < 0)
        return false;
    sigfillset(&all); /* no signal may end or stop the program before the mode is restored */
    sigprocmask(SIG_BLOCK, &all, &mask);
    if (tcgetpgrp(tty) == getpgrp() && tcgetattr(tty, &before) == 0) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        if (tcsetattr(tty, TCSADRAIN, &raw) == 0) {
            has = ask(tty);
            tcsetattr(tty, TCSADRAIN, &before);
        }
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(tty);
    return has;
}

static bool draws_sixel(const struct plot_options *options, const char *gnuplot)
{
    if (options->term == TERM_DUMB || (options->term == TERM_AUTO && !terminal_has_sixel()))
        return false;
    if (gnuplot && plot_gnuplot_has(gnuplot, "sixelgd"))
        return true;
    if (gnuplot)
        complain("gnuplot has no sixel support (terminal sixelgd); drawing with characters");
    return false;
}

/* The size of the terminal, within the limits of a picture. */
static unsigned within(unsigned pixels, unsigned common, unsigned most)
{
    if (pixels == 0)
        return common;
    return pixels < common ? common : pixels > most ? most : pixels;
}

void plot_term_settle(struct plot_options *options, const char *gnuplot)
{
    struct terminal_size size = terminal_size(STDOUT_FILENO);
    struct plot_look *look = &options->request.look;
    unsigned rows = size.rows - LINES_LEFT;
    if (draws_sixel(options, gnuplot)) {
        look->format = PLOT_SIXEL;
        if (look->width == 0) {
            look->width = within(size.width, COMMON_WIDTH, MOST_WIDTH);
            look->height = within((unsigned)((uint64_t)size.height * rows / size.rows),
                                  COMMON_HEIGHT, MOST_HEIGHT);
        }
    } else {
        look->format = PLOT_DUMB;
        look->width = size.columns * PLOT_CELL_WIDTH;
        look->height = rows * PLOT_CELL_HEIGHT;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\f' || c == '\r';
}

/* Prints what gnuplot's "dumb" terminal drew. It may contain names from the input, so the lines are
 * escaped; trailing blanks, and empty lines at the beginning and at the end, are dropped. */
static bool print_lines(FILE *out, const char *bytes, size_t size, struct error *err)
{
    struct buffer line = BUFFER_INIT;
    size_t empty = 0;
    bool begun = false;
    for (size_t at = 0, next; at < size; at = next) {
        const char *newline = memchr(bytes + at, '\n', size - at);
        size_t end = newline ? (size_t)(newline - bytes) : size;
        next = end + 1;
        at += bytes[at] == '\f'; /* a new page, says gnuplot */
        while (end > at && is_blank(bytes[end - 1]))
            end--;
        if (end <= at) {
            empty += begun;
            continue;
        }
        for (; empty > 0; empty--)
            fputc('\n', out);
        begun = true;
        buffer_clear(&line);
        escape_text(&line, bytes + at, end - at);
        buffer_puts(&line, "\n");
        if (line.failed)
            break;
        fputs(line.bytes, out);
    }
    bool ok = !line.failed || error_out_of_memory(err);
    buffer_release(&line);
    return ok;
}

/* ESC P, numbers, q; then pixels, colours and sizes, all of them visible characters; then ESC \. */
static bool is_sixel(const char *bytes, size_t size)
{
    static const char begin[] = "\x1bP", end[] = "\x1b\\";
    if (size < 5 || memcmp(bytes, begin, 2) != 0 || memcmp(bytes + size - 2, end, 2) != 0)
        return false;
    size_t at = 2;
    while (ascii_is_digit(bytes[at]) || bytes[at] == ';')
        at++;
    if (bytes[at] != 'q')
        return false;
    for (at++; at < size - 2; at++)
        if ((bytes[at] <= ' ' || bytes[at] > '~') && bytes[at] != '\n' && bytes[at] != '\r')
            return false;
    return true;
}

/* Output of gnuplot's "sixelgd" terminal: narrows the bytes to the one sixel image they must
 * consist of, so that nothing else can control the terminal. The ESC [ H that gnuplot 6 writes
 * before it, which would move the cursor to the top left, is dropped. */
static bool find_sixel(const char **bytes, size_t *size, struct error *err)
{
    static const char home[] = "\x1b[H";
    const char *image = *bytes;
    size_t left = *size;
    while (left > 0 && (image[left - 1] == '\n' || image[left - 1] == '\r'))
        left--;
    if (left >= sizeof(home) - 1 && memcmp(image, home, sizeof(home) - 1) == 0) {
        image += sizeof(home) - 1;
        left -= sizeof(home) - 1;
    }
    if (!is_sixel(image, left))
        return error_set(err, STATUS_IO, "what gnuplot drew is no sixel image");
    *bytes = image;
    *size = left;
    return true;
}

static bool print(int fd, enum plot_format format, struct error *err)
{
    struct stat drawn;
    if (fstat(fd, &drawn) != 0)
        return error_set(err, STATUS_IO, "cannot read the picture: %s", strerror(errno));
    size_t size = (size_t)drawn.st_size;
    if (size == 0 || size > PICTURE_MOST)
        return error_set(err, STATUS_IO, "gnuplot wrote an invalid picture of %zu bytes", size);
    char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return error_set(err, STATUS_LIMIT, "cannot read the picture: %s", strerror(errno));
    bool ok;
    if (format == PLOT_SIXEL) {
        const char *image = bytes;
        size_t image_size = size;
        ok = find_sixel(&image, &image_size, err);
        if (ok) {
            fwrite(image, 1, image_size, stdout);
            fputc('\n', stdout);
        }
    } else {
        ok = print_lines(stdout, bytes, size, err);
    }
    munmap(bytes, size);
    return ok;
}

bool plot_show(const char *gnuplot, const char *folder, enum plot_format format, struct error *err)
{
    int fd = memfd_create("picture", MFD_CLOEXEC);
    if (fd < 0)
        return error_set(err, STATUS_IO, "cannot create a file in memory: %s", strerror(errno));
    bool ok = plot_run_gnuplot(gnuplot, folder, fd, err) && print(fd, format, err);
    close(fd);
    return ok;
}
