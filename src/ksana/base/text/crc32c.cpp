#include "ksana/base/text/crc32c.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace ksana {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
constexpr unsigned kByteBits = 8;
constexpr std::uint32_t kByteMask = 0xff;

constexpr std::array<std::uint32_t, 256> MakeTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t sum = byte;
        for (unsigned bit = 0; bit < kByteBits; ++bit) {
            sum = (sum & 1) != 0 ? (sum >> 1) ^ kPolynomial : sum >> 1;
        }
        table.at(byte) = sum;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ByProcessor(std::string_view bytes,
                                                            std::uint32_t before) {
    std::uint64_t sum = ~before;
    while (bytes.size() >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof(word));
        sum = __builtin_ia32_crc32di(sum, word);
        bytes.remove_prefix(sizeof(word));
    }
    auto rest = static_cast<std::uint32_t>(sum);
    for (const char c : bytes) {
        rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(c));
    }
    return ~rest;
}
#endif

}  // namespace

std::uint32_t Crc32cByTable(std::string_view bytes, std::uint32_t before) {
    std::uint32_t sum = ~before;
    for (const char c : bytes) {
        const std::size_t at = (sum ^ static_cast<unsigned char>(c)) & kByteMask;
        sum = kTable.at(at) ^ (sum >> kByteBits);
    }
    return ~sum;
}

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
    static const bool has = __builtin_cpu_supports("sse4.2") != 0;
    if (has) return ByProcessor(bytes, before);
#endif
    return Crc32cByTable(bytes, before);
}

}  // namespace ksana
