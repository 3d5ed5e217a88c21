#include "analysis/report/notice_list.h"

#include <stdarg.h>
#include <stdio.h>

void notice_add(struct notice_list *list, enum notice_kind kind, const char *format, ...)
{
    struct notice *notice = &list->items[list->count++];
    va_list arguments;
    notice->kind = kind;
    va_start(arguments, format);
    vsnprintf(notice->text, sizeof(notice->text), format, arguments);
    va_end(arguments);
}
