/* What the test's torch calls of CUDA: functions that the stand-in implements, and some that it
 * does not know. */
#include <stddef.h>
#include <string.h>

int cudaMalloc(void **address, size_t size);
int cudaFree(void *address);
int cudaMemGetInfo(size_t *unused, size_t *total);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaLaunchKernel(const void *function);
int cusparseCreateThing(void **thing);
int cusparseGetThing(void *thing, int *value);
int cublasFrobnicate(void);

void *take(size_t size);
void give_back(void *address);
int unused_mib(void);
int devices(void);
int read_value(void *address);
void write_value(void *address, int value);
void launch(void);
int call(const char *name);

void *take(size_t size)
{
    void *address;
    return cudaMalloc(&address, size) == 0 ? address : NULL;
}

void give_back(void *address)
{
    cudaFree(address);
}

int unused_mib(void)
{
    size_t unused = 0, total;
    cudaMemGetInfo(&unused, &total);
    return (int)(unused >> 20);
}

int devices(void)
{
    int count = -1;
    cudaGetDeviceCount(&count);
    return count;
}

int read_value(void *address)
{
    int value = 7;
    cudaMemcpy(&value, address, sizeof(value), 2);
    return value;
}

void write_value(void *address, int value)
{
    cudaMemcpy(address, &value, sizeof(value), 1);
}

void launch(void)
{
    cudaLaunchKernel(NULL);
}

/* Calls a function that the stand-in does not implement. */
int call(const char *name)
{
    void *thing = NULL;
    int value;
    if (strcmp(name, "create") == 0)
        return cusparseCreateThing(&thing) == 0 && thing ? 0 : -1;
    return strcmp(name, "get") == 0 ? cusparseGetThing(thing, &value) : cublasFrobnicate();
}
