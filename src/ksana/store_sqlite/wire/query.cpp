#include "ksana/store_sqlite/wire/query.hpp"

#include <algorithm>

namespace ksana::store_sqlite {

Result<bool> Query::Next() {
    if (owner_.broken()) [[unlikely]]
        return *owner_.broken();
    if (bind_failure_ != SQLITE_OK) [[unlikely]] {
        return owner_.StepFailed(bind_failure_, statement_);
    }
    read_ = 0;
    const int rc = sqlite3_step(statement_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    return owner_.StepFailed(rc, statement_);
}

Result<void> Query::Run() {
    for (;;) {
        KSANA_TRY(const bool row, Next());
        if (!row) break;
    }
    Reset();
    return {};
}

// Reads a text as a blob: the same bytes, without a copy that ends in NUL.
std::string_view Query::View() {
    const int column = read_++;
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string_view()
                           : std::string_view(data, static_cast<std::size_t>(size));
}

Uuid Query::Id() {
    const std::string_view bytes = View();
    Uuid id;
    std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());
    return id;
}

std::optional<TimePoint> Query::OptionalTime() {
    if (!IsNull()) return Time();
    Skip();
    return std::nullopt;
}

std::optional<TimePoint> Query::TimeUnless(std::int64_t none) {
    const std::int64_t value = Int();
    if (value == none) return std::nullopt;
    return TimePoint(Duration(value));
}

}  // namespace ksana::store_sqlite
