#pragma once

#include <hiredis/hiredis.h>

#include "ksana/base/process/lazy_library.hpp"

// Private to the module, because it exposes hiredis.

namespace ksana::lock_redis {

// All functions of hiredis that the driver calls: those that read answers. The sockets are the
// driver's own, as hiredis has no deadline for a whole call, and the one of Debian 12 no TLS. So
// are the commands, which hiredis writes with a sprintf for every word.
#define KSANA_HIREDIS_FUNCTIONS(EACH) \
    EACH(freeReplyObject)             \
    EACH(redisReaderCreate)           \
    EACH(redisReaderFeed)             \
    EACH(redisReaderFree)             \
    EACH(redisReaderGetReply)

struct HiredisFunctions {
    KSANA_HIREDIS_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Returns the functions. Only after LoadHiredis (connection.hpp) has succeeded.
const HiredisFunctions& Hiredis();

}  // namespace ksana::lock_redis
