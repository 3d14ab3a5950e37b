#pragma once

#include <mysql.h>

#include "ksana/base/process/lazy_library.hpp"

// Private to the module, because it exposes the header of libmariadb.

namespace ksana::lock_mariadb {

// The libmariadb functions that Ksana calls; the only list of them.
#define KSANA_LIBMARIADB_FUNCTIONS(EACH) \
    EACH(mysql_close)                    \
    EACH(mysql_errno)                    \
    EACH(mysql_error)                    \
    EACH(mysql_fetch_lengths)            \
    EACH(mysql_fetch_row)                \
    EACH(mysql_free_result)              \
    EACH(mysql_get_socket)               \
    EACH(mysql_init)                     \
    EACH(mysql_num_fields)               \
    EACH(mysql_options)                  \
    EACH(mysql_read_query_result)        \
    EACH(mysql_real_connect)             \
    EACH(mysql_send_query)               \
    EACH(mysql_server_init)              \
    EACH(mysql_store_result)             \
    EACH(mysql_thread_id)

struct LibmariadbFunctions {
    KSANA_LIBMARIADB_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Loads and initializes libmariadb, once per process. A failure is permanent until the process
// ends. Thread-safe.
Result<void> LoadLibmariadb();

// Returns the functions. Only after LoadLibmariadb has succeeded.
const LibmariadbFunctions& Libmariadb();

}  // namespace ksana::lock_mariadb
