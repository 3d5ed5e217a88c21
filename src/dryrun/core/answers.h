/* The answers to functions of NVIDIA's libraries that the stand-in does not implement. */
#ifndef MEMSNAP_DRYRUN_CORE_ANSWERS_H
#define MEMSNAP_DRYRUN_CORE_ANSWERS_H

enum answer {
    ANSWER_SUCCESS, /* 0: it sets or destroys something, or waits */
    ANSWER_WORK,    /* 0: it starts work on the GPU */
    ANSWER_HANDLE,  /* 0, and a new handle through its first argument */
    ANSWER_STOP,    /* unknown: it may return data that the program relies on */
};

enum answer answer_for(const char *function);

#endif
