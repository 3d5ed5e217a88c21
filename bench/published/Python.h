/* The part of CPython's interface that the published solver of cost tables uses, so that its file
 * compiles unchanged, without Python. Its chain is a bench_chain(). The Python objects that it
 * makes of the table cost nothing: only the last cost is kept. */
#ifndef BENCH_PUBLISHED_PYTHON_H
#define BENCH_PUBLISHED_PYTHON_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solve/cost/cost_table.h"

typedef ptrdiff_t Py_ssize_t;

/* A sequence, one of its items, or an object that is never read. */
typedef struct PyObject {
    const int32_t *numbers;
    Py_ssize_t before, count; /* number of zeros before the numbers; total number of items */
    int32_t item;
} PyObject;

static PyObject something;
static const struct cost_problem *published_problem;
static double published_cost;    /* of the whole chain with all memory */
static int64_t published_before; /* number of costs before that one */

#define Py_True           (&something)
#define Py_False          (&something)
#define Py_DECREF(object) (void)(object)

static inline int PyArg_ParseTuple(PyObject *arguments, const char *format, PyObject **chain,
                                   int *slots)
{
    (void)format;
    *chain = arguments;
    *slots = published_problem->slots;
    return 1;
}

/* In the published chain, the sizes that a layer keeps are indexed from 1. */
static inline PyObject *PyObject_GetAttrString(PyObject *chain, const char *name)
{
    static PyObject sequence;
    const struct cost_problem *p = published_problem;
    Py_ssize_t layers = p->layers;
    (void)chain;
    sequence = (PyObject){p->forward, 0, layers, 0};
    if (strcmp(name, "btime") == 0)
        sequence = (PyObject){NULL, layers, layers, 0};
    else if (strcmp(name, "x") == 0)
        sequence = (PyObject){p->x, 0, layers + 1, 0};
    else if (strcmp(name, "xbar") == 0)
        sequence = (PyObject){p->xbar, 1, layers + 1, 0};
    else if (strcmp(name, "btmp") == 0)
        sequence = (PyObject){p->btmp, 0, layers, 0};
    return &sequence;
}

static inline bool PySequence_Check(const PyObject *sequence)
{
    return sequence->count > 0;
}

static inline Py_ssize_t PySequence_Size(const PyObject *sequence)
{
    return sequence->count;
}

static inline PyObject *PySequence_GetItem(PyObject *sequence, Py_ssize_t i)
{
    sequence->item = i < sequence->before ? 0 : sequence->numbers[i - sequence->before];
    return sequence;
}

static inline long PyLong_AsLong(const PyObject *item)
{
    return item->item;
}

static inline double PyFloat_AsDouble(const PyObject *item)
{
    return item->item;
}

/* The published chain has one layer fewer than ours. */
static inline Py_ssize_t PyObject_Length(const PyObject *chain)
{
    (void)chain;
    return published_problem->layers - 1;
}

static inline PyObject *PyFloat_FromDouble(double cost)
{
    if (published_before-- == 0)
        published_cost = cost;
    return &something;
}

#define PyList_New(count)               (&something)
#define PyList_SET_ITEM(list, at, item) (void)(item)
#define PyDict_New()                    (&something)
#define PyDict_SetItem(dict, key, item) (void)(item)
#define PyLong_FromLong(number)         (&something)
#define Py_BuildValue(...)              (&something)
#define PyTuple_Pack(...)               (&something)

typedef struct {
    const char *name;
    PyObject *(*function)(PyObject *self, PyObject *arguments);
    int flags;
    const char *help;
} PyMethodDef;

struct PyModuleDef {
    int head;
    const char *name, *help;
    int size;
    PyMethodDef *methods;
};

#define METH_VARARGS             1
#define PyModuleDef_HEAD_INIT    0
#define PyMODINIT_FUNC           PyMethodDef *
#define PyModule_Create(module_) ((module_)->methods)

#endif
