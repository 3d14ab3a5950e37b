#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/damage/log_layout.hpp"

namespace ksana::store_sqlite {

// What SQLite will find in a log when it recovers it, and what it would pass over in silence.
struct LogScan {
    bool valid = false;  // there is a log, and its header is whole
    Salts salts{};
    std::uint32_t committed = 0;  // frames up to and including the last commit that can be read
    // A frame that cannot be read lies before others of a later transaction. Those are written
    // after a sync of the former, so it was whole: this is damage, not a torn end.
    bool damaged_inside = false;
};

// Reads the log of a database that nobody writes. No log, or one that has not begun: not valid.
Result<LogScan> ScanLog(const std::string& database_path);

}  // namespace ksana::store_sqlite
