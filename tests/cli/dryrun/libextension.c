/* A library of another package: it calls functions that the test's torch does not call. */
#include <stddef.h>

int cusparseCreateOther(void **thing);
int extend(void);

int extend(void)
{
    void *thing = NULL;
    return cusparseCreateOther(&thing) == 0 && thing ? 0 : -1;
}
