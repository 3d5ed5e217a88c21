#include "solve/opencl/opencl.h"
#include "unit/devices/devices.h"

int main(void)
{
    return device_run(&backend_opencl, 100, 1);
}
