/* The gnuplot script of a picture.
 *
 * gnuplot scripts can run commands, and the process that reads the input and computes the picture
 * is not trusted: whoever wrote the input may have taken it over. So that process writes no script
 * but settings, and another one, which never saw the input, checks them and puts the script
 * together with the templates. Settings are lines of
 *
 *     NAME = VALUE; NAME[INDEX] = VALUE; ...    VALUE: a number, or text in single quotes
 *     array NAME[SIZE]
 *     reset, unset multiplot, or nothing
 *     template NUMBER                           the kind's template goes here
 *
 * which can set variables for the templates, but not run anything. */
#ifndef MEMSNAP_RENDER_PLOT_SCRIPT_H
#define MEMSNAP_RENDER_PLOT_SCRIPT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct plot_script_parts {
    const char *const *files; /* values allowed for a variable NAME_file; ends with NULL */
    char *const *templates;
    size_t template_count;
};

/* Adds template number `number` to the settings. */
void plot_put_template(FILE *settings, size_t number);

/* Reads settings up to the end of the file, and adds them and the templates they name to `script`.
 * Writes nothing unless all of them are as above: STATUS_IO. */
bool plot_script_add(FILE *script, FILE *settings, const struct plot_script_parts *parts,
                     struct error *err);

#endif
