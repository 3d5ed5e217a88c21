#include "analysis/code/paths.h"
#include "analysis/flame/flame.h"
#include "analysis/phase/phases.h"

static void label_python(const struct flame *flame, struct flame_frame of, struct buffer *label)
{
    const struct symbols *symbols = site_table_symbols(flame->sites);
    struct frame frame = symbols_frame_at(symbols, of.id);
    struct text file = symbols_text(symbols, frame.file);
    size_t size = 0;
    if (of.kind == FLAME_USER) {
        size = label_files_size(&flame->files, frame.file);
    } else {
        struct file_facts facts = path_classify(file);
        if (facts.class == FILE_TORCH)
            buffer_puts(label, "torch/");
        if (facts.module > 0)
            size = file.size - facts.module;
    }
    if (size == 0)
        size = path_base(file).size;
    label_add_file(label, file, size);
    if (frame.line > 0)
        buffer_printf(label, ":%u", (unsigned)frame.line);
    buffer_putc(label, ' ');
    label_add_name(label, symbols_text(symbols, frame.name));
}

static void label_native(const struct flame *flame, frame_id id, struct buffer *label)
{
    const struct symbols *symbols = site_table_symbols(flame->sites);
    struct frame frame = symbols_frame_at(symbols, id);
    struct text name = symbols_text(symbols, frame.name);
    label_add_name(label, name.size > 0 ? name : symbols_text(symbols, frame.file));
}

static const char *const words[] = {
    [FLAME_NO_STACK] = "(no stack recorded)",
    [FLAME_BEFORE] = "(allocated before recording began)",
    [FLAME_ITS_BACKWARD] = "(its backward)",
    [FLAME_BACKWARD] = "(backward pass, no Python stack)",
    [FLAME_NO_PYTHON] = "(no Python stack)",
    [FLAME_NATIVE_ONLY] = "(C++ frames only)",
    [FLAME_UNEXPLAINED] = "(not explained: the trace contradicts itself)",
    [FLAME_CUT] = "(frames left out)",
    [FLAME_PHASE_BEFORE] = "before the trace",
    [FLAME_NO_ANNOTATION] = "(no annotation)",
};

void flame_label(const struct flame *flame, uint32_t index, struct buffer *label)
{
    struct flame_frame frame = flame->frames[index];
    size_t before = label->size;
    switch (frame.kind) {
    case FLAME_USER:
    case FLAME_LIBRARY:
        label_python(flame, frame, label);
        break;
    case FLAME_NATIVE:
        label_native(flame, frame.id, label);
        break;
    case FLAME_NAME:
        label_add_name(label, symbols_text(site_table_symbols(flame->sites), frame.id));
        break;
    case FLAME_WORD:
        buffer_puts(label, words[frame.id]);
        break;
    case FLAME_CATEGORY:
        buffer_puts(label, category_name((enum category)frame.id));
        break;
    case FLAME_PHASE:
        buffer_puts(label, phase_name((enum phase)frame.id));
        break;
    }
    if (label->size == before)
        buffer_puts(label, "(unnamed)");
}

bool flame_source(const struct flame *flame, uint32_t index, struct text *file, uint32_t *line)
{
    struct flame_frame of = flame->frames[index];
    if (of.kind != FLAME_USER && of.kind != FLAME_LIBRARY)
        return false;
    const struct symbols *symbols = site_table_symbols(flame->sites);
    struct frame frame = symbols_frame_at(symbols, of.id);
    *file = symbols_text(symbols, frame.file);
    *line = frame.line;
    return true;
}
