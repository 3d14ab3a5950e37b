#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/http_server/routing/problem.hpp"
#include "ksana/http_server/wire/head_parser.hpp"

namespace ksana::http_server {

// Incremental decoder of a chunked body, as strict as HeadParser. Checks and discards chunk
// extensions and trailer fields. Owned by a Connection. Not thread-safe.
class ChunkDecoder {
  public:
    struct Limits {
        std::size_t body = std::size_t{1024} * 1024;
        std::size_t trailer = std::size_t{16} * 1024;
    };

    explicit ChunkDecoder(const Limits& limits) : limits_(limits) {}

    // Decodes `input` and appends to `body`. Sets `used` to the number of bytes consumed; the
    // caller passes the rest again, followed by new input. After kFault, see fault().
    ParseStatus Feed(std::string_view input, std::size_t& used, std::string& body);

    const Fault& fault() const { return fault_; }

  private:
    enum class Stage : std::uint8_t { kSize, kData, kDataEnd, kTrailer };

    ParseStatus Fail(int status, std::string_view code, std::string detail);
    ParseStatus Bad(std::string detail) { return Fail(400, "bad_request", std::move(detail)); }
    // Takes one line or piece of data. Returns kNeedMore with `moved` false if `input` is too
    // short.
    ParseStatus Step(std::string_view& input, std::string& body, bool& moved);
    ParseStatus TakeSize(std::string_view line, std::size_t body_size);
    ParseStatus TakeTrailer(std::string_view line);
    void TakeData(std::string_view& input, std::string& body);

    Limits limits_;
    Fault fault_;
    Stage stage_ = Stage::kSize;
    std::size_t left_ = 0;  // bytes left of the chunk
    std::size_t trailer_bytes_ = 0;
};

}  // namespace ksana::http_server
