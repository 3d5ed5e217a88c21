/* Constants and layouts that the host shares with the kernels: C, OpenCL C and CUDA C++ include it.
 * WIDE is a signed integer of 64 bits. */

#define DEVICE_THREADS 256 /* threads of a group */
#define DEVICE_TILE    16  /* rows and columns of a block of the table */
#define DEVICE_SLOTS   32  /* slots that a group of cost_product computes */
#define DEVICE_STEP    8   /* splits that it keeps in local memory at once */

/* A problem's numbers are arrays of count + 1 entries each, one after the other. */
enum device_array {
    DEVICE_X,
    DEVICE_XBAR,
    DEVICE_FTMP,
    DEVICE_BTMP,
    DEVICE_FORWARD,
    DEVICE_BEFORE, /* P */
    DEVICE_PEAKS,  /* [k][q]: the maximum of x[p] + x[p+1] + ftmp[p] over p = q .. q + 2^k - 1, for
                      all k with 2^k <= count */
};

struct device_problem {
    WIDE table;   /* index of its first table entry */
    WIDE numbers; /* index of its first number */
    int count;    /* layers */
    int stride;   /* entries in a row of the table, as in COST_ROWS; all are computed */
};
