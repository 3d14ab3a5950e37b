#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include "ksana/base/process/lazy_library.hpp"

// Private to the module, because it exposes librabbitmq.

namespace ksana::broker_rabbitmq {

// All functions of librabbitmq that the driver calls: those that write and read frames. The sockets
// are the driver's own, as librabbitmq's calls cannot be given a deadline when they send.
#define KSANA_LIBRABBITMQ_FUNCTIONS(EACH)       \
    EACH(amqp_destroy_connection)               \
    EACH(amqp_encode_method)                    \
    EACH(amqp_encode_properties)                \
    EACH(amqp_error_string2)                    \
    EACH(amqp_handle_input)                     \
    EACH(amqp_maybe_release_buffers_on_channel) \
    EACH(amqp_new_connection)                   \
    EACH(amqp_tune_connection)

struct LibrabbitmqFunctions {
    KSANA_LIBRABBITMQ_FUNCTIONS(KSANA_LATE_FUNCTION)
};

// Loads the library. kUnimplemented: it is not installed.
Result<void> LoadLibrabbitmq();

// Returns the functions. Only after LoadLibrabbitmq has succeeded.
const LibrabbitmqFunctions& Librabbitmq();

}  // namespace ksana::broker_rabbitmq
