#pragma once

#include <curl/curl.h>

#include "ksana/base/process/lazy_library.hpp"

namespace ksana::libcurl {

// The libcurl functions that Ksana calls; the only list of them.
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

// Pointers to the functions of the loaded library.
struct Functions {
    KSANA_LIBCURL_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Loads and initializes libcurl, once per process. Thread-safe. Loading brings in about thirty
// libraries and the tables of OpenSSL, six megabytes that a process without such calls does not
// need. Returns an error if the library is missing or broken; the error is permanent until the
// process ends.
Result<void> Load();

// Returns the functions. Call only after Load has succeeded.
const Functions& Api();

}  // namespace ksana::libcurl
