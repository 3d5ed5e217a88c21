#include "analysis/code/dispatched.h"

#include <string.h>

#include "analysis/code/operators.h"

/* On GPUs, arithmetic is 100 to 300 times as fast as memory is with values of 2 or 4 bytes. An
 * elementwise operator takes two or three transfers for each value. A matrix product takes as many
 * multiplications as its inner dimension, usually some thousands; attention and convolutions take
 * somewhat more for their results. */
enum { WEIGHT_MATRIX_PRODUCT = 32, WEIGHT_CONVOLUTION = 33, WEIGHT_ATTENTION = 34 };

unsigned operator_weight(struct text name)
{
    static const char *const products[] = {
        "mm",
        "addmm",
        "bmm",
        "baddbmm",
        "addbmm",
        "_int_mm",
        "_scaled_mm",
        "_sparse_mm",
        "_cudnn_rnn",
        "_grouped_mm",
        "_trilinear",
        "_addmm_activation",
        "_scaled_grouped_mm",
        "miopen_rnn",
    };
    static const char *const convolutions[] = {
        "convolution",
        "convolution_overrideable",
        "cudnn_convolution",
        "miopen_convolution",
    };
    static const char space[] = "aten::";
    if (!text_starts(name, space))
        return 1;
    struct text bare = {name.bytes + strlen(space), name.size - strlen(space)};
    if (text_starts(bare, "_scaled_dot_product_") ||
        text_equals(bare, "_flash_attention_forward") ||
        text_equals(bare, "_efficient_attention_forward"))
        return text_find(bare, "backward") ? 1 : WEIGHT_ATTENTION;
    if (text_is_one_of(bare, convolutions, sizeof(convolutions) / sizeof(convolutions[0])))
        return WEIGHT_CONVOLUTION;
    return text_is_one_of(bare, products, sizeof(products) / sizeof(products[0]))
               ? WEIGHT_MATRIX_PRODUCT
               : 1;
}

bool dispatched_operator(struct site_table *table, stack_id stack, string_id *name,
                         struct error *err)
{
    struct symbols *symbols = site_table_symbols(table);
    struct stack frames = symbols_stack_at(symbols, stack);
    char text[NATIVE_NAME_SIZE] = "", found[NATIVE_NAME_SIZE] = "";
    for (uint32_t i = 0; i < frames.count; i++) {
        if (site_frame_kind(table, frames.frames[i]) != FRAME_NATIVE)
            break;
        struct frame frame = symbols_frame_at(symbols, frames.frames[i]);
        struct text function = symbols_text(symbols, frame.name);
        if (!text_find(function, "::redispatch("))
            continue;
        enum native_role role = native_classify(function, text);
        if (role == NATIVE_OPERATOR || role == NATIVE_TO_DEVICE || role == NATIVE_FACTORY)
            memcpy(found, text, sizeof(found));
    }
    *name = STRING_EMPTY;
    return !*found || symbols_string(symbols, found, strlen(found), name, err);
}
