#include "dryrun/core/answers.h"

#include <stddef.h>

#include "unit/dryrun/dryrun.h"

static void expect(enum answer answer, const char *const *functions)
{
    for (; *functions; functions++)
        ck_assert_msg(answer_for(*functions) == answer, "%s", *functions);
}

START_TEST(test_success)
{
    expect(ANSWER_SUCCESS,
           (const char *const[]){"cublasSetStream_v2", "cublasLtMatmulDescSetAttribute",
                                 "cudnnDestroyTensorDescriptor", "cusparseSpGEMM_destroyDescr",
                                 "cudaDeviceSynchronize", "cudaStreamSynchronize",
                                 "cudaFuncSetAttribute", "cuModuleUnload", "cufftSetWorkArea",
                                 "__cudaRegisterFunction", NULL});
}
END_TEST

START_TEST(test_work)
{
    expect(ANSWER_WORK,
           (const char *const[]){"cublasSgemm_v2", "cublasLtMatmul", "cudnnConvolutionForward",
                                 "cusparseSpMM", "cufftXtExec", "cudaLaunchCooperativeKernel",
                                 "cuLaunchKernel", "curandGenerateUniform", NULL});
}
END_TEST

START_TEST(test_handle)
{
    expect(ANSWER_HANDLE,
           (const char *const[]){"cublasCreate_v2", "cublasLtMatmulDescCreate",
                                 "cudnnCreateConvolutionDescriptor", "cusparseSpGEMM_createDescr",
                                 "cusolverDnCreateParams", NULL});
}
END_TEST

START_TEST(test_stop)
{
    expect(ANSWER_STOP,
           (const char *const[]){"cusolverDnSgetrf_bufferSize", "cusparseSpMatGetSize",
                                 "cudnnGetConvolutionForwardWorkspaceSize", "cudaFrobnicate",
                                 "cuGreenCtxCreate", "nvshmem_malloc", "cusparseXcsrgeam2Nnz",
                                 "cusparseLtMatmulGetWorkspace", "", NULL});
}
END_TEST

TCase *answers_tests(void)
{
    TCase *tests = tcase_create("answers");
    tcase_add_test(tests, test_success);
    tcase_add_test(tests, test_work);
    tcase_add_test(tests, test_handle);
    tcase_add_test(tests, test_stop);
    return tests;
}
