#include "ksana/libpq/params.hpp"

#include <algorithm>

namespace ksana::libpq {
namespace {

template <class U>
void StoreBytes(char* to, U value) {
    for (std::size_t i = 0; i < sizeof(U); ++i) {
        to[i] = static_cast<char>((value >> (8 * (sizeof(U) - 1 - i))) & 0xffU);
    }
}

template <class U>
void AppendBytes(std::string& out, U value) {
    std::array<char, sizeof(U)> bytes{};
    StoreBytes(bytes.data(), value);
    out.append(bytes.data(), bytes.size());
}

}  // namespace

void AppendBinary(std::string& out, bool value) { out.push_back(value ? 1 : 0); }
void AppendBinary(std::string& out, std::int16_t value) {
    AppendBytes(out, static_cast<std::uint16_t>(value));
}
void AppendBinary(std::string& out, std::int32_t value) {
    AppendBytes(out, static_cast<std::uint32_t>(value));
}
void AppendBinary(std::string& out, std::int64_t value) {
    AppendBytes(out, static_cast<std::uint64_t>(value));
}
void AppendBinary(std::string& out, std::string_view value) { out.append(value); }
void AppendBinary(std::string& out, const Uuid& value) {
    std::array<char, 16> bytes{};
    std::ranges::copy(value.bytes, bytes.begin());
    out.append(bytes.data(), bytes.size());
}

void AppendBinary(std::string& out, const RowPlace& value) {
    out.append(value.bytes.data(), value.bytes.size());
}

void SetLength(std::string& out, std::size_t start) {
    StoreBytes(out.data() + start, static_cast<std::uint32_t>(out.size() - start - 4));
}

void Params::AddElements(std::string_view elements, std::size_t count, std::uint32_t oid) {
    std::string& out = *values_.emplace_back(std::in_place);
    out.reserve(elements.size() + 20);
    AppendBinary(out, std::int32_t{count == 0 ? 0 : 1});  // dimensions
    AppendBinary(out, std::int32_t{1});                   // there may be NULLs
    AppendBinary(out, static_cast<std::int32_t>(oid));
    if (count == 0) return;
    AppendBinary(out, static_cast<std::int32_t>(count));
    AppendBinary(out, std::int32_t{1});  // index of the first element
    out.append(elements);
}

void Params::AddElement(std::string_view element) {
    const std::string_view length = element.substr(0, 4);
    if (length == std::string_view("\xff\xff\xff\xff", 4)) {
        values_.emplace_back(std::nullopt);
    } else {
        values_.emplace_back(element.substr(4));
    }
}

}  // namespace ksana::libpq
