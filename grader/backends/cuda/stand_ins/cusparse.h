#pragma once
typedef struct cusparseContext* cusparseHandle_t;
typedef int cusparseStatus_t;
#define CUSPARSE_STATUS_SUCCESS 0
