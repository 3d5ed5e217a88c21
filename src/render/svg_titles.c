#include "render/svg_titles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/escape.h"

#define NEAR 0.05 /* pixels that rounding may make of a point */
#define TITLES_BYTES                                                                               \
    ((size_t)3 << 20) /* of all shapes: later ones have none, so that names in the                 \
                         input cannot make a picture that no browser opens */

/* Notes are lines: the picture's title; then colour, points, x, y, x, y and the title of a shape.
 */
struct notes {
    FILE *file;
    char *line;
    size_t room;
    struct svg_shape shape;
    char *title; /* in `line`; NULL: no shape is left */
    size_t told; /* bytes of titles */
};

/* Text as it stands in XML, line feeds as references to them. */
static bool put_title(FILE *out, const char *bytes, size_t size, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    for (size_t at = 0, run; at < size; at += run + 1) {
        const char *feed = memchr(bytes + at, '\n', size - at);
        run = feed ? (size_t)(feed - bytes) - at : size - at;
        escape_markup(&text, bytes + at, run);
        if (feed)
            buffer_puts(&text, "&#10;");
    }
    bool ok = !text.failed || error_set(err, STATUS_LIMIT, "out of memory");
    if (ok && text.size > 0)
        fwrite(text.bytes, 1, text.size, out);
    buffer_release(&text);
    return ok;
}

bool svg_titles_begin(FILE *notes, const char *title, struct error *err)
{
    bool ok = put_title(notes, title, strlen(title), err);
    fputc('\n', notes);
    return ok;
}

bool svg_titles_note(FILE *notes, const struct svg_shape *shape, const struct buffer *title,
                     struct error *err)
{
    fprintf(notes, "%u %zu %.3f %.3f %.3f %.3f\t", shape->colour, shape->points, shape->x[0],
            shape->y[0], shape->x[1], shape->y[1]);
    bool ok = put_title(notes, title->bytes, title->size, err);
    fputc('\n', notes);
    return ok;
}

/* False at the end. */
static bool next_line(FILE *file, char **line, size_t *room)
{
    ssize_t size = getline(line, room, file);
    if (size > 0 && (*line)[size - 1] == '\n')
        (*line)[size - 1] = '\0';
    return size > 0;
}

static void next_note(struct notes *notes)
{
    struct svg_shape *s = &notes->shape;
    notes->title = NULL;
    if (next_line(notes->file, &notes->line, &notes->room) &&
        sscanf(notes->line, "%u %zu %lf %lf %lf %lf", &s->colour, &s->points, &s->x[0], &s->y[0],
               &s->x[1], &s->y[1]) == 6)
        notes->title = strchr(notes->line, '\t');
    if (notes->title)
        notes->title++;
}

/* A polygon as gnuplot writes it: points are "x,y" with a space or line feed behind each. */
static bool read_polygon(const char *line, struct svg_shape *shape)
{
    unsigned red, green, blue;
    int begin = 0;
    if (sscanf(line, " <polygon fill = 'rgb(%u, %u, %u)' points = '%n", &red, &green, &blue,
               &begin) != 3 ||
        begin == 0)
        return false;
    const char *at = line + begin;
    shape->colour = red << 16 | green << 8 | blue;
    for (shape->points = 0;; shape->points++) {
        double x, y;
        char *end;
        x = strtod(at, &end);
        if (end == at || *end != ',')
            break;
        at = end + 1;
        y = strtod(at, &end);
        if (end == at)
            break;
        at = end + strspn(end, " \n");
        size_t i = shape->points > 0;
        shape->x[i] = x;
        shape->y[i] = y;
    }
    return strcmp(at, "'/>") == 0 && shape->points > 1;
}

static bool is_same(const struct svg_shape *a, const struct svg_shape *b)
{
    bool same = a->colour == b->colour && a->points == b->points;
    for (int i = 0; i < 2; i++)
        same = same && fabs(a->x[i] - b->x[i]) < NEAR && fabs(a->y[i] - b->y[i]) < NEAR;
    return same;
}

/* The rest of the line behind gnuplot's title for a group, which says "gnuplot_plot_3". */
static const char *behind_group_title(const char *line)
{
    static const char tag[] = "><title>gnuplot_plot_", end[] = "</title>";
    const char *found = strstr(line, tag);
    const char *behind = found ? strstr(found, end) : NULL;
    return behind ? behind + sizeof(end) - 1 : NULL;
}

static void copy_line(const char *line, const char *title, struct notes *notes, FILE *out)
{
    struct svg_shape shape = {0};
    const char *rest = behind_group_title(line);
    if (rest) {
        /* what has no title lets through to what has one: labels and curves lie above bands */
        fprintf(out, "%.*s pointer-events=\"none\">%s\n", (int)strcspn(line, ">"), line, rest);
    } else if (strcmp(line, "<title>Gnuplot</title>") == 0) {
        fprintf(out, "<title>%s</title>\n", title);
    } else if (notes->title && read_polygon(line, &shape) && is_same(&shape, &notes->shape)) {
        notes->told += strlen(notes->title);
        if (notes->told <= TITLES_BYTES)
            fprintf(out, "%.*s pointer-events=\"all\"><title>%s</title></polygon>\n",
                    (int)(strlen(line) - 2), line, notes->title);
        else
            fprintf(out, "%s\n", line);
        next_note(notes);
    } else {
        fprintf(out, "%s\n", line);
    }
}

/* Adds the lines that a polygon goes on for: gnuplot breaks long ones. */
static void read_on(FILE *svg, struct buffer *line)
{
    char *more = NULL;
    size_t room = 0;
    while (!line->failed && !strchr(line->bytes + line->size - 1, '>') &&
           next_line(svg, &more, &room)) {
        buffer_putc(line, '\n');
        buffer_puts(line, more);
    }
    free(more);
}

static bool copy_lines(FILE *svg, const char *title, struct notes *notes, FILE *out)
{
    char *line = NULL;
    size_t room = 0;
    struct buffer polygon = BUFFER_INIT;
    while (!polygon.failed && next_line(svg, &line, &room)) {
        const char *shown = line;
        if (strncmp(line + strspn(line, "\t "), "<polygon ", 9) == 0) {
            buffer_clear(&polygon);
            buffer_puts(&polygon, line);
            read_on(svg, &polygon);
            shown = polygon.bytes;
        }
        if (!polygon.failed)
            copy_line(shown, title, notes, out);
    }
    bool ok = !polygon.failed;
    buffer_release(&polygon);
    free(line);
    return ok;
}

bool svg_titles_add(FILE *svg, FILE *notes_file, FILE *out, struct error *err)
{
    struct notes notes = {.file = notes_file};
    char *title = NULL;
    size_t room = 0;
    bool has_title = next_line(notes_file, &title, &room);
    next_note(&notes);
    bool ok = copy_lines(svg, has_title ? title : "memsnap plot", &notes, out) ||
              error_set(err, STATUS_LIMIT, "out of memory");
    free(title);
    free(notes.line);
    return ok && (!ferror(svg) || error_set(err, STATUS_IO, "cannot read what gnuplot drew"));
}
