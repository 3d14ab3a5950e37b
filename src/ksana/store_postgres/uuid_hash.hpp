#pragma once

#include "ksana/base/uuid.hpp"

namespace ksana::store_postgres {

struct UuidHash {
    std::size_t operator()(const Uuid& id) const {
        std::size_t hash = 0;
        for (const std::uint8_t byte : id.bytes) hash = hash * 131 + byte;
        return hash;
    }
};

}  // namespace ksana::store_postgres
