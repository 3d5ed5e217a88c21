#include "commands/plot/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE       500 /* milliseconds */
#define SIXEL          4   /* the number of sixel graphics in an answer to DA1 */
#define LEAST_COLUMNS  40
#define MOST_COLUMNS   1000
#define LEAST_ROWS     12
#define MOST_ROWS      500
#define COMMON_COLUMNS 80
#define COMMON_ROWS    24

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

struct terminal_size terminal_size(int fd)
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
    for (at += 3; *at >= '0' && *at <= '9';) {
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

bool terminal_has_sixel(void)
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
