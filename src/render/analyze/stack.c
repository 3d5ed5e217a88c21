#include "render/analyze/internal.h"

#include <string.h>

#include "analysis/code/operators.h"
#include "render/core/escape.h"
#include "render/core/fit.h"

#define STACK_INDENT (SECTION_INDENT + 4)
#define LEAST_PATH   12 /* columns */

struct stack_view {
    const struct page *page;
    const struct symbols *symbols;
    struct site_table *sites;
    bool all;                    /* every frame */
    bool has_python;             /* then native frames say little */
    size_t folded;               /* native frames left out */
    char told[NATIVE_NAME_SIZE]; /* the operator or node on the last line */
};

static bool put_line(const struct stack_view *view, bool faint, const struct buffer *text)
{
    struct buffer fitted = BUFFER_INIT;
    if (text->size > 0)
        text_fit(&fitted, text->bytes, text->size, view->page->width - STACK_INDENT, CUT_END);
    bool ok = !text->failed && !fitted.failed;
    if (ok && fitted.size > 0)
        fprintf(view->page->out, "%*s%s%s%s\n", STACK_INDENT, "",
                faint ? page_style(view->page, STYLE_FAINT) : "", fitted.bytes,
                faint ? page_plain(view->page) : "");
    buffer_release(&fitted);
    return ok;
}

static bool put_name(const struct stack_view *view, bool faint, const char *name, size_t size)
{
    struct buffer text = BUFFER_INIT;
    escape_name(&text, (struct text){name, size});
    bool ok = put_line(view, faint, &text);
    buffer_release(&text);
    return ok;
}

/* "aten::neg in NegBackward0", before the frames */
static bool operator_line(const struct stack_view *view, const struct site *site)
{
    struct text op = symbols_text(view->symbols, site->op);
    struct text node = symbols_text(view->symbols, site->node);
    struct buffer line = BUFFER_INIT;
    escape_text(&line, op.bytes, op.size);
    if (node.size > 0 && site->node != site->op) {
        buffer_puts(&line, " in ");
        escape_text(&line, node.bytes, node.size);
    }
    bool ok = put_line(view, false, &line);
    buffer_release(&line);
    return ok;
}

/* In a stack without Python, operators and autograd nodes say the most. Each is shown once. */
static bool native_frame(struct stack_view *view, struct frame frame)
{
    char name[NATIVE_NAME_SIZE] = "";
    struct text whole = symbols_text(view->symbols, frame.name);
    if (view->all)
        return put_name(view, view->has_python, whole.bytes, whole.size);
    enum native_role role = native_classify(whole, name);
    if (view->has_python || role == NATIVE_PLAIN || role == NATIVE_ENGINE ||
        (*name && strcmp(name, view->told) == 0)) {
        view->folded++;
        return true;
    }
    strcpy(view->told, name);
    return *name ? put_name(view, false, name, strlen(name))
                 : put_name(view, false, whole.bytes, whole.size);
}

/* The end of a path, cut at a folder if possible. */
static void fit_path(struct buffer *out, const struct buffer *path, size_t columns)
{
    struct buffer fitted = BUFFER_INIT;
    text_fit(&fitted, path->bytes, path->size, columns, CUT_START);
    const char *cut = fitted.size > 0 && fitted.size < path->size ? fitted.bytes : NULL;
    const char *slash = cut ? strchr(cut, '/') : NULL;
    if (slash && strlen(slash) >= LEAST_PATH)
        buffer_printf(out, "%s%s", slash - cut > 2 ? "..." : "..", slash);
    else if (fitted.size > 0)
        buffer_puts(out, fitted.bytes);
    out->failed = out->failed || fitted.failed;
    buffer_release(&fitted);
}

/* A path that is too long loses its beginning; line and function are always printed. */
static bool python_frame(struct stack_view *view, struct frame frame, bool is_site, bool is_user)
{
    const struct page *page = view->page;
    struct text file = symbols_text(view->symbols, frame.file);
    struct text name = symbols_text(view->symbols, frame.name);
    struct buffer path = BUFFER_INIT, text = BUFFER_INIT, rest = BUFFER_INIT;
    escape_name(&path, file);
    buffer_printf(&rest, ":%u ", frame.line);
    escape_name(&rest, name);
    if (path.size > 0 && rest.size > 0) {
        size_t taken = STACK_INDENT + text_columns(rest.bytes, rest.size);
        size_t room = taken + LEAST_PATH < page->width ? page->width - taken : LEAST_PATH;
        fit_path(&text, &path, view->all ? SIZE_MAX : room);
    }
    bool ok = !path.failed && !text.failed && !rest.failed;
    if (ok)
        fprintf(page->out, "%*s%s%s%s%s\n", STACK_INDENT, is_site ? "> " : "",
                page_style(page, is_user ? STYLE_TITLE : STYLE_FAINT),
                text.size > 0 ? text.bytes : "", rest.bytes, page_plain(page));
    buffer_release(&path);
    buffer_release(&text);
    buffer_release(&rest);
    return ok;
}

/* C++ frames that neither Python nor an operator called may be the user's own, so all of them are
 * shown. */
static bool is_only_native(const struct stack_view *view, const struct site *site)
{
    return !view->has_python && site->op == STRING_EMPTY;
}

static void put_counts(const struct stack_view *view, uint64_t stacks)
{
    char count[UNITS_TEXT_SIZE];
    const char *faint = page_style(view->page, STYLE_FAINT), *plain = page_plain(view->page);
    if (view->folded > 0)
        fprintf(view->page->out, "%*s%s... %s native frame%s%s\n", STACK_INDENT, "", faint,
                units_count(count, view->folded), view->folded == 1 ? "" : "s", plain);
    if (stacks > 1)
        fprintf(view->page->out, "%*s%s(the largest of %s stacks)%s\n", STACK_INDENT, "", faint,
                units_count(count, stacks), plain);
}

bool site_stack(const struct page *page, struct site_table *sites, enum stack_detail detail,
                const struct stack_example *example)
{
    struct stack_view view = {
        .page = page,
        .symbols = site_table_symbols(sites),
        .sites = sites,
        .has_python = example->site->any_python_frame != NO_FRAME,
    };
    struct stack stack = symbols_stack_at(view.symbols, example->stack);
    view.all = detail == STACKS_ALL || is_only_native(&view, example->site);
    bool ok = !view.has_python || operator_line(&view, example->site);
    for (size_t i = 0; ok && i < stack.count; i++) {
        enum frame_kind kind = site_frame_kind(view.sites, stack.frames[i]);
        struct frame frame = symbols_frame_at(view.symbols, stack.frames[i]);
        ok = kind == FRAME_NATIVE
                 ? native_frame(&view, frame)
                 : python_frame(&view, frame, i == example->site->user_frame, kind == FRAME_USER);
    }
    put_counts(&view, example->stacks);
    return ok;
}
