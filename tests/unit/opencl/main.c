#include "unit/devices/devices.h"
#include "solve/opencl/opencl.h"

int main(void)
{
    return device_run(&backend_opencl, 100, 1);
}
