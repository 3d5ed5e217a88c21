#include "render/plot/svg_titles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/plot/svg_polygon.h"

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
    char *title; /* points into `line`; NULL if no shape is left */
    size_t told; /* bytes of titles */
};

struct copying {
    struct notes *notes;
    FILE *out;
    struct svg_slivers slivers;
    struct buffer path;
};

/* Text escaped for XML, with line feeds as character references. */
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
    bool ok = !text.failed || error_out_of_memory(err);
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

double svg_titles_least(double least, size_t count, svg_size_of *size_of, const void *self)
{
    for (;; least *= 1.2) {
        size_t titles = 0;
        for (size_t i = 0; i < count; i++)
            titles += size_of(self, i) >= least;
        if (titles <= SVG_TITLES_MOST)
            return least;
    }
}

void svg_title_begin(struct buffer *title)
{
    for (size_t i = 0; i < title->size; i++)
        if (title->bytes[i] == '\n')
            title->bytes[i] = ' ';
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

bool svg_titles_note_box(FILE *notes, const struct svg_box *box, const struct buffer *title,
                         struct error *err)
{
    if (!(box->right - box->left >= SVG_SLIVER && box->bottom - box->top >= SVG_SLIVER))
        return true;
    struct svg_shape shape = {.colour = box->colour,
                              .points = 4,
                              .x = {box->left, box->left},
                              .y = {box->bottom, box->top}};
    return svg_titles_note(notes, &shape, title, err);
}

/* Returns false at the end. */
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

static bool is_near(const struct svg_point *point, double x, double y)
{
    return fabs((double)point->x / 100 - x) < NEAR && fabs((double)point->y / 100 - y) < NEAR;
}

static bool is_in(const struct svg_point *point, const struct svg_shape *box)
{
    double x = (double)point->x / 100, y = (double)point->y / 100;
    return x > box->x[0] - NEAR && x < box->x[1] + NEAR && y > box->y[0] - NEAR &&
           y < box->y[1] + NEAR;
}

static bool is_same(const struct svg_polygon *drawn, const struct svg_shape *noted)
{
    if (drawn->colour == noted->colour && noted->points == 0)
        return is_in(&drawn->points[0], noted) && is_in(&drawn->points[drawn->count - 1], noted);
    return drawn->colour == noted->colour && drawn->count == noted->points &&
           is_near(&drawn->points[0], noted->x[0], noted->y[0]) &&
           is_near(&drawn->points[drawn->count - 1], noted->x[1], noted->y[1]);
}

/* The rest of the line after gnuplot's title of a group, such as "gnuplot_plot_3"; NULL if the line
 * has no such title. */
static const char *after_group_title(const char *line)
{
    static const char tag[] = "><title>gnuplot_plot_", end[] = "</title>";
    const char *found = strstr(line, tag);
    const char *after = found ? strstr(found, end) : NULL;
    return after ? after + sizeof(end) - 1 : NULL;
}

static void copy_line(const char *line, const char *title, FILE *out)
{
    const char *rest = after_group_title(line);
    if (rest)
        /* shapes without a title must not hide tooltips: labels and curves lie above bands */
        fprintf(out, "%.*s pointer-events=\"none\">%s\n", (int)strcspn(line, ">"), line, rest);
    else if (strcmp(line, "<title>Gnuplot</title>") == 0)
        fprintf(out, "<title>%s</title>\n", title);
    else
        fprintf(out, "%s\n", line);
}

static bool copy_polygon(struct copying *copying, const struct svg_polygon *polygon)
{
    struct notes *notes = copying->notes;
    while (notes->title && notes->shape.points == 0 && !is_same(polygon, &notes->shape))
        next_note(notes);
    const char *title = notes->title && is_same(polygon, &notes->shape) ? notes->title : NULL;
    if (!title && svg_is_sliver(polygon)) {
        svg_slivers_add(&copying->slivers, polygon, copying->out);
        return !copying->slivers.failed;
    }
    notes->told += title ? strlen(title) : 0;
    buffer_clear(&copying->path);
    svg_polygon_path(polygon, &copying->path);
    if (copying->path.failed)
        return false;
    fprintf(copying->out, "\t\t<path fill=\"#%06x\" d=\"%s\"", polygon->colour,
            copying->path.bytes);
    if (title && notes->told <= TITLES_BYTES)
        fprintf(copying->out, " pointer-events=\"all\"><title>%s</title></path>\n", title);
    else
        fputs("/>\n", copying->out);
    if (title && notes->shape.points > 0)
        next_note(notes);
    return true;
}

/* Reads the remaining lines of a polygon, because gnuplot breaks long ones. */
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

/* Consecutive polygons are a picture's bands, boxes or bars. */
static bool copy_lines(FILE *svg, const char *title, struct copying *copying)
{
    char *line = NULL;
    size_t room = 0;
    struct buffer whole = BUFFER_INIT;
    struct svg_polygon polygon = {0};
    bool ok = true;
    while (ok && next_line(svg, &line, &room)) {
        const char *shown = line;
        bool is_polygon = strncmp(line + strspn(line, "\t "), "<polygon ", 9) == 0;
        if (is_polygon) {
            buffer_clear(&whole);
            buffer_puts(&whole, line);
            read_on(svg, &whole);
            shown = whole.bytes;
            ok = !whole.failed;
        }
        if (ok && is_polygon && svg_polygon_read(&polygon, shown)) {
            ok = copy_polygon(copying, &polygon);
        } else if (ok && !polygon.failed) {
            svg_slivers_flush(&copying->slivers, copying->out);
            copy_line(shown, title, copying->out);
        }
        ok = ok && !polygon.failed;
    }
    svg_slivers_flush(&copying->slivers, copying->out);
    svg_polygon_release(&polygon);
    buffer_release(&whole);
    free(line);
    return ok && !copying->slivers.failed;
}

bool svg_titles_add(FILE *svg, FILE *notes_file, FILE *out, struct error *err)
{
    struct notes notes = {.file = notes_file};
    struct copying copying = {.notes = &notes, .out = out};
    char *title = NULL;
    size_t room = 0;
    bool has_title = next_line(notes_file, &title, &room);
    next_note(&notes);
    bool ok =
        copy_lines(svg, has_title ? title : "memsnap plot", &copying) || error_out_of_memory(err);
    buffer_release(&copying.path);
    free(title);
    free(notes.line);
    return ok && (!ferror(svg) || error_set(err, STATUS_IO, "cannot read what gnuplot drew"));
}
