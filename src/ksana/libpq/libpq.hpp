#pragma once

#include <libpq-fe.h>

#include "ksana/base/process/lazy_library.hpp"

// Private to the module, because it exposes the header of libpq.

namespace ksana::libpq {

// All functions of libpq that Ksana calls; the only list of them.
#define KSANA_LIBPQ_FUNCTIONS(EACH) \
    EACH(PQbackendPID)              \
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

// Loads libpq once in the process, so that a server without PostgreSQL needs neither libpq nor its
// dependencies. A failure is permanent until the process ends. Thread-safe.
Result<void> LoadLibpq();

// Returns the functions. Only after LoadLibpq has succeeded, hence wherever there is a Connection
// or Rows.
const LibpqFunctions& Libpq();

}  // namespace ksana::libpq
