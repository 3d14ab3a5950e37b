#include "ksana/schedule/zone/tzif.hpp"

#include <algorithm>

namespace ksana::schedule {
namespace {

constexpr std::size_t kHeaderSize = 44;
constexpr std::uint32_t kMaxCount = 100'000;

struct Header {
    char version = '\0';
    std::uint32_t utc_indicators = 0;
    std::uint32_t standard_indicators = 0;
    std::uint32_t leap_seconds = 0;
    std::uint32_t transitions = 0;
    std::uint32_t kinds = 0;
    std::uint32_t name_bytes = 0;

    std::size_t BodySize(std::size_t time_size) const {
        return transitions * (time_size + 1) + kinds * 6 + name_bytes +
               leap_seconds * (time_size + 4) + standard_indicators + utc_indicators;
    }
};

Error Damaged(std::string_view what) {
    return {Code::kDataLoss, "not a usable time zone file: " + std::string(what)};
}

std::uint64_t BigEndian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

Result<Header> ParseHeader(std::string_view bytes) {
    if (bytes.size() < kHeaderSize || !bytes.starts_with("TZif")) return Damaged("no TZif header");
    const auto count = [bytes](std::size_t index) {
        return static_cast<std::uint32_t>(BigEndian(bytes, 20 + 4 * index, 4));
    };
    Header header{bytes[4], count(0), count(1), count(2), count(3), count(4), count(5)};
    for (std::size_t i = 0; i < 6; ++i) {
        if (count(i) > kMaxCount) return Damaged("impossible counts");
    }
    return header;
}

Result<TzifData> ParseBody(std::string_view body, const Header& header) {
    TzifData data;
    const std::size_t kinds_at = header.transitions * std::size_t{9};
    const std::size_t names_at = kinds_at + header.kinds * std::size_t{6};
    const std::string_view names = body.substr(names_at, header.name_bytes);
    for (std::size_t i = 0; i < header.kinds; ++i) {
        const std::size_t at = kinds_at + 6 * i;
        const auto name_at = static_cast<std::size_t>(BigEndian(body, at + 5, 1));
        const std::size_t name_end = names.find('\0', name_at);
        if (name_at >= names.size() || name_end == std::string_view::npos) {
            return Damaged("a name lies outside its table");
        }
        const auto offset = static_cast<std::int32_t>(BigEndian(body, at, 4));
        if (offset <= -86'400 || offset >= 86'400) return Damaged("an offset of a day or more");
        data.kinds.push_back({std::string(names.substr(name_at, name_end - name_at)), offset});
    }
    if (data.kinds.empty()) return Damaged("no local time type");
    for (std::size_t i = 0; i < header.transitions; ++i) {
        const auto at = static_cast<std::int64_t>(BigEndian(body, 8 * i, 8));
        const auto kind =
            static_cast<std::uint8_t>(BigEndian(body, header.transitions * std::size_t{8} + i, 1));
        if (kind >= data.kinds.size()) return Damaged("an unknown local time type");
        if (i > 0 && at <= data.transitions.back().at) return Damaged("transitions out of order");
        data.transitions.push_back({at, kind});
    }
    data.initial = data.kinds.front();
    return data;
}

}  // namespace

Result<TzifData> ParseTzif(std::string_view bytes) {
    KSANA_TRY(const Header old, ParseHeader(bytes));
    if (old.version < '2') return Damaged("version 1 has no times after 2037");
    const std::size_t second = kHeaderSize + old.BodySize(4);
    if (bytes.size() < second) return Damaged("cut short");
    KSANA_TRY(const Header header, ParseHeader(bytes.substr(second)));
    if (header.leap_seconds != 0) return Damaged("it counts leap seconds");
    const std::string_view body = bytes.substr(second + kHeaderSize);
    if (body.size() < header.BodySize(8)) return Damaged("cut short");
    KSANA_TRY(TzifData data, ParseBody(body, header));

    std::string_view footer = body.substr(header.BodySize(8));
    if (!footer.starts_with('\n')) return Damaged("no rule at the end");
    footer.remove_prefix(1);
    const std::size_t end = footer.find('\n');
    if (end == std::string_view::npos) return Damaged("cut short");
    if (end > 0) {
        data.rule = PosixRule::Parse(footer.substr(0, end));
        if (!data.rule) return Damaged("the rule at the end is malformed");
    }
    return data;
}

}  // namespace ksana::schedule
