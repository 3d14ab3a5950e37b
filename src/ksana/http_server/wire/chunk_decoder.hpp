#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/http_server/routing/problem.hpp"
#include "ksana/http_server/wire/head_parser.hpp"

namespace ksana::http_server {

// Takes a chunked body apart as it comes, as strictly as HeadParser. Extensions of chunks and
// trailer fields are checked and thrown away. Not thread-safe.
class ChunkDecoder {
  public:
    struct Limits {
        std::size_t body = std::size_t{1024} * 1024;
        std::size_t trailer = std::size_t{16} * 1024;
    };

    explicit ChunkDecoder(const Limits& limits) : limits_(limits) {}

    // Appends to `body` what `input` holds of it. `used` bytes are done with; the rest comes again
    // with what follows it.
    ParseStatus Feed(std::string_view input, std::size_t& used, std::string& body);

    const Fault& fault() const { return fault_; }

  private:
    enum class Stage : std::uint8_t { kSize, kData, kDataEnd, kTrailer };

    ParseStatus Fail(int status, std::string_view code, std::string detail);
    ParseStatus Bad(std::string detail) { return Fail(400, "bad_request", std::move(detail)); }
    // One step; kNeedMore with `moved` false when `input` is too short for it.
    ParseStatus Step(std::string_view& input, std::string& body, bool& moved);
    ParseStatus TakeSize(std::string_view line, std::size_t body_size);
    ParseStatus TakeTrailer(std::string_view line);
    void TakeData(std::string_view& input, std::string& body);

    Limits limits_;
    Fault fault_;
    Stage stage_ = Stage::kSize;
    std::size_t left_ = 0;  // of the chunk
    std::size_t trailer_bytes_ = 0;
};

}  // namespace ksana::http_server
