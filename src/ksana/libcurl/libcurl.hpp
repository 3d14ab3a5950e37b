#pragma once

#include <curl/curl.h>

#include "ksana/base/process/late_library.hpp"

namespace ksana::libcurl {

// What Ksana calls of libcurl: the one list of it.
#define KSANA_LIBCURL_FUNCTIONS(EACH) \
    EACH(curl_easy_cleanup)           \
    EACH(curl_easy_getinfo)           \
    EACH(curl_easy_init)              \
    EACH(curl_easy_perform)           \
    EACH(curl_easy_setopt)            \
    EACH(curl_easy_strerror)          \
    EACH(curl_free)                   \
    EACH(curl_global_init)            \
    EACH(curl_multi_add_handle)       \
    EACH(curl_multi_cleanup)          \
    EACH(curl_multi_info_read)        \
    EACH(curl_multi_init)             \
    EACH(curl_multi_remove_handle)    \
    EACH(curl_multi_setopt)           \
    EACH(curl_multi_socket_action)    \
    EACH(curl_multi_strerror)         \
    EACH(curl_slist_append)           \
    EACH(curl_slist_free_all)         \
    EACH(curl_url)                    \
    EACH(curl_url_cleanup)            \
    EACH(curl_url_get)                \
    EACH(curl_url_set)                \
    EACH(curl_version_info)

struct Functions {
    KSANA_LIBCURL_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Loads libcurl and sets it up, once in the process; thread-safe. With it come some thirty
// libraries and the tables of OpenSSL, six megabytes in all that a process without calls for it
// does not need. A failure stays one until the process ends.
Result<void> Load();

// After Load has gone well.
const Functions& Api();

}  // namespace ksana::libcurl
