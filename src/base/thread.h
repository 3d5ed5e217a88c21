/* Starts threads that leave signals to the others. */
#ifndef MEMSNAP_BASE_THREAD_H
#define MEMSNAP_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread with a stack of this size; the usual one would count against limits of address
 * space. All signals are blocked in it, so that existing threads handle them. To be joined. False
 * if it cannot be started. */
bool thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *argument);

#endif
