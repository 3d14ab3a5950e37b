#include "ksana/store_postgres/params.hpp"

namespace ksana::store_postgres {
namespace {

template <class U>
void AppendBytes(std::string& out, U value) {
    for (int shift = (static_cast<int>(sizeof(U)) - 1) * 8; shift >= 0; shift -= 8) {
        out.push_back(static_cast<char>((value >> shift) & 0xff));
    }
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
    for (const std::uint8_t byte : value.bytes) out.push_back(static_cast<char>(byte));
}

void Params::SetLength(std::string& body, std::size_t start) {
    std::string length;
    AppendBinary(length, static_cast<std::int32_t>(body.size() - start - 4));
    body.replace(start, 4, length);
}

void Params::AddArray(std::string_view body, std::size_t count, bool nulls, std::uint32_t oid) {
    std::string& out = *values_.emplace_back(std::in_place);
    out.reserve(body.size() + 20);
    AppendBinary(out, std::int32_t{count == 0 ? 0 : 1});  // dimensions
    AppendBinary(out, std::int32_t{nulls ? 1 : 0});
    AppendBinary(out, static_cast<std::int32_t>(oid));
    if (count == 0) return;
    AppendBinary(out, static_cast<std::int32_t>(count));
    AppendBinary(out, std::int32_t{1});  // index of the first
    out.append(body);
}

}  // namespace ksana::store_postgres
