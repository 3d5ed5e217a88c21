#include "analysis/code/recurrent.h"

#include "analysis/code/paths.h"

static bool is_recurrent_file(struct text file)
{
    struct file_facts facts = path_classify(file);
    struct text inside = {file.bytes + facts.module, file.size - facts.module};
    return facts.class == FILE_TORCH &&
           (text_equals(inside, "nn/modules/rnn.py") || text_equals(inside, "nn\\modules\\rnn.py"));
}

bool code_is_recurrent(const struct symbols *symbols, stack_id id)
{
    struct stack stack = symbols_stack_at(symbols, id);
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        struct text name = symbols_text(symbols, frame.name);
        if (is_recurrent_file(symbols_text(symbols, frame.file)) ||
            text_starts(name, "at::_ops::_cudnn_rnn::") ||
            text_starts(name, "at::_ops::miopen_rnn::"))
            return true;
    }
    return false;
}
