#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include "ksana/http_client/plain_call.hpp"

namespace ksana::http_client {

class PlainConnection;

// The connections to one host and port, and the calls that wait for one.
struct PlainHost {
    std::size_t open = 0;                // connections, those that are being made included
    std::vector<PlainConnection*> idle;  // the last one was used last
    std::list<PlainCall*> waiting;       // in the order in which they came

    bool Empty() const { return open == 0 && waiting.empty(); }
};

}  // namespace ksana::http_client
