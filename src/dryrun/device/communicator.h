/* A communicator of NCCL. */
#ifndef MEMSNAP_DRYRUN_DEVICE_COMMUNICATOR_H
#define MEMSNAP_DRYRUN_DEVICE_COMMUNICATOR_H

struct communicator {
    int ranks; /* 0: not known */
    int rank;
};

#endif
