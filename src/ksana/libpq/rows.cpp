#include "ksana/libpq/rows.hpp"

#include <algorithm>
#include <charconv>

#include "ksana/base/error/check.hpp"
#include "ksana/libpq/libpq.hpp"

namespace ksana::libpq {
namespace {

// Reads a big-endian signed number of 1 to 8 bytes.
std::int64_t ReadNumber(std::string_view bytes) {
    KSANA_CHECK(!bytes.empty() && bytes.size() <= 8, "a number of the server has 1 to 8 bytes");
    const bool negative = (static_cast<std::uint8_t>(bytes.front()) & 0x80U) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (const char byte : bytes) {
        value = (value << 8U) | static_cast<std::uint8_t>(byte);
    }
    return static_cast<std::int64_t>(value);
}

std::string_view Take(std::string_view& from, std::size_t count) {
    KSANA_CHECK(count <= from.size(), "an array of the server is longer than it says");
    const std::string_view taken = from.substr(0, count);
    from.remove_prefix(count);
    return taken;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const { Libpq().PQclear(result); }

std::size_t Rows::size() const {
    return result_ ? static_cast<std::size_t>(Libpq().PQntuples(result_.get())) : 0;
}

bool Rows::IsNull(std::size_t row, int column) const {
    return Libpq().PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::string_view Rows::Bytes(std::size_t row, int column) const {
    const int at = static_cast<int>(row);
    return {Libpq().PQgetvalue(result_.get(), at, column),
            static_cast<std::size_t>(Libpq().PQgetlength(result_.get(), at, column))};
}

std::string_view Rows::CommandTag() const {
    return result_ ? Libpq().PQcmdStatus(result_.get()) : "";
}

std::size_t Rows::AffectedRows() const {
    const std::string_view text = result_ ? Libpq().PQcmdTuples(result_.get()) : "";
    std::size_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::int64_t RowReader::Number() { return ReadNumber(Next()); }

Uuid RowReader::Id() {
    const std::string_view bytes = Next();
    Uuid id;
    KSANA_CHECK(bytes.size() == id.bytes.size(), "a uuid of the server has 16 bytes");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        id.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
    }
    return id;
}

RowPlace RowReader::Place() {
    const std::string_view bytes = Next();
    RowPlace place;
    KSANA_CHECK(bytes.size() == place.bytes.size(), "a tid of the server has 6 bytes");
    std::ranges::copy(bytes, place.bytes.begin());
    return place;
}

// The server sends microseconds since 2000.
TimePoint RowReader::Timestamp() {
    constexpr std::chrono::sys_days kStart = std::chrono::year(2000) / 1 / 1;
    return TimePoint(Duration(Number()) + kStart.time_since_epoch());
}

std::optional<TimePoint> RowReader::TimeOrNone(std::int64_t none) {
    if (SkipNull()) return std::nullopt;
    const std::int64_t micros = Number();
    if (micros == none) return std::nullopt;
    return TimePoint(Duration(micros));
}

std::vector<std::string> RowReader::Texts() {
    std::string_view bytes = Next();
    std::vector<std::string> texts;
    if (ReadNumber(Take(bytes, 4)) == 0) return texts;  // dimensions
    Take(bytes, 8);                                     // has nulls, element type
    const std::int64_t count = ReadNumber(Take(bytes, 4));
    Take(bytes, 4);  // index of the first element
    for (std::int64_t i = 0; i < count; ++i) {
        const auto length = static_cast<std::size_t>(ReadNumber(Take(bytes, 4)));
        texts.emplace_back(Take(bytes, length));
    }
    return texts;
}

}  // namespace ksana::libpq
