/* Tensors of cuDNN's older interface. */
#ifndef MEMSNAP_DRYRUN_DEVICE_DNN_H
#define MEMSNAP_DRYRUN_DEVICE_DNN_H

enum { DIMENSIONS_MOST = 8 };

struct tensor {
    int type, count;
    int dimensions[DIMENSIONS_MOST];
};

void dnn_set_tensor(struct tensor *tensor, int type, int count, const int *dimensions);

#endif
