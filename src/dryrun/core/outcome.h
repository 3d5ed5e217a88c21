/* How memsnap, the recorder and the stand-in tell each other about a dry run. */
#ifndef MEMSNAP_DRYRUN_CORE_OUTCOME_H
#define MEMSNAP_DRYRUN_CORE_OUTCOME_H

/* Exit status of a program that the stand-in or the recorder ended, after a message. */
#define OUTCOME_STOPPED 97

#endif
