#pragma once

#include <libpq-fe.h>

#include "ksana/base/process/late_library.hpp"

// Private to the module, as it shows libpq.

namespace ksana::store_postgres {

// What the driver calls of libpq: the one list of it.
#define KSANA_LIBPQ_FUNCTIONS(EACH) \
    EACH(PQclear)                   \
    EACH(PQcmdStatus)               \
    EACH(PQcmdTuples)               \
    EACH(PQconnectPoll)             \
    EACH(PQconnectStartParams)      \
    EACH(PQconninfoFree)            \
    EACH(PQconninfoParse)           \
    EACH(PQconsumeInput)            \
    EACH(PQdb)                      \
    EACH(PQenterPipelineMode)       \
    EACH(PQerrorMessage)            \
    EACH(PQfinish)                  \
    EACH(PQflush)                   \
    EACH(PQfreemem)                 \
    EACH(PQgetResult)               \
    EACH(PQgetisnull)               \
    EACH(PQgetlength)               \
    EACH(PQgetvalue)                \
    EACH(PQhost)                    \
    EACH(PQisBusy)                  \
    EACH(PQnotifies)                \
    EACH(PQntuples)                 \
    EACH(PQpipelineSync)            \
    EACH(PQport)                    \
    EACH(PQresultErrorField)        \
    EACH(PQresultErrorMessage)      \
    EACH(PQresultStatus)            \
    EACH(PQsendPrepare)             \
    EACH(PQsendQueryParams)         \
    EACH(PQsendQueryPrepared)       \
    EACH(PQserverVersion)           \
    EACH(PQsetNoticeProcessor)      \
    EACH(PQsetnonblocking)          \
    EACH(PQsocket)                  \
    EACH(PQstatus)

struct LibpqFunctions {
    KSANA_LIBPQ_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Loads libpq, once in the process; thread-safe. Whoever keeps everything in a file has no use for
// it and for the libraries that come with it. A failure stays one until the process ends.
Result<void> LoadLibpq();

// After LoadLibpq has gone well; so wherever there is a connection, or rows of one.
const LibpqFunctions& Libpq();

}  // namespace ksana::store_postgres
