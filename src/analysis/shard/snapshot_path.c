/* Which modules of torch.nn are in a stack. */
#include <string.h>

#include "analysis/shard/snapshot_reader.h"

static bool is_modules_folder(struct text folder)
{
    return text_ends(folder, "torch/nn/modules/") || text_ends(folder, "torch\\nn\\modules\\");
}

bool snapshot_is_torch_file(const struct snapshot_reader *reader, frame_id id, const char *name)
{
    struct text file = symbols_text(reader->symbols, symbols_frame_at(reader->symbols, id).file);
    if (!text_ends(file, name))
        return false;
    return is_modules_folder((struct text){file.bytes, file.size - strlen(name)});
}

static struct frame frame_at(const struct snapshot_reader *reader, frame_id id)
{
    return symbols_frame_at(reader->symbols, id);
}

static struct text name_of(const struct snapshot_reader *reader, frame_id id)
{
    return symbols_text(reader->symbols, frame_at(reader, id).name);
}

bool snapshot_is_forward(const struct snapshot_reader *reader, frame_id id)
{
    struct text name = name_of(reader, id);
    return text_equals(name, "forward") || text_ends(name, ".forward");
}

static bool is_in_torch(const struct snapshot_reader *reader, frame_id id)
{
    struct text file = symbols_text(reader->symbols, frame_at(reader, id).file);
    while (file.size > 0 && file.bytes[file.size - 1] != '/' && file.bytes[file.size - 1] != '\\')
        file.size--;
    return is_modules_folder(file);
}

bool snapshot_is_list(const struct snapshot_reader *reader, frame_id id)
{
    return snapshot_is_forward(reader, id) && snapshot_is_torch_file(reader, id, "container.py");
}

bool snapshot_is_leaf(const struct snapshot_reader *reader, frame_id id)
{
    return is_in_torch(reader, id) && snapshot_is_forward(reader, id) &&
           !snapshot_is_list(reader, id) && !snapshot_is_torch_file(reader, id, "transformer.py");
}

/* `inner` is the frame within it, or NO_FRAME. */
static enum front_kind kind_of(const struct snapshot_reader *reader, frame_id id, frame_id inner)
{
    static const struct {
        const char *file;
        enum front_kind kind;
    } files[] = {
        {"conv.py", FRONT_CONVOLUTION},  {"linear.py", FRONT_LINEAR},
        {"batchnorm.py", FRONT_TWO},     {"instancenorm.py", FRONT_TWO},
        {"normalization.py", FRONT_TWO}, {"sparse.py", FRONT_ONE},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (snapshot_is_torch_file(reader, id, files[i].file))
            return files[i].kind;
    bool attends = snapshot_is_torch_file(reader, id, "activation.py") && inner != NO_FRAME &&
                   text_equals(name_of(reader, inner), "multi_head_attention_forward");
    return attends ? FRONT_FOUR : FRONT_NONE;
}

void snapshot_read_path(const struct snapshot_reader *reader, struct stack stack,
                        struct snapshot_path *path)
{
    path->count = 0;
    path->kind = FRONT_NONE;
    for (size_t i = stack.count; i-- > 0 && path->count < SNAPSHOT_MOST_FRAMES;) {
        frame_id id = stack.frames[i];
        if (frame_at(reader, id).line == 0 || snapshot_is_torch_file(reader, id, "module.py"))
            continue;
        path->frames[path->count++] = id;
        if (!snapshot_is_leaf(reader, id))
            continue;
        path->kind = kind_of(reader, id, i > 0 ? stack.frames[i - 1] : NO_FRAME);
        return;
    }
}
