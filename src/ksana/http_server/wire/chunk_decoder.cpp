#include "ksana/http_server/wire/chunk_decoder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "ksana/http_server/wire/http_text.hpp"

namespace ksana::http_server {
namespace {

constexpr std::size_t kMaxSizeLine = 256;
constexpr std::size_t kMaxTrailerLine = 4096;

}  // namespace

ParseStatus ChunkDecoder::Fail(int status, std::string_view code, std::string detail) {
    fault_ = {.status = status, .code = code, .detail = std::move(detail)};
    return ParseStatus::kFault;
}

ParseStatus ChunkDecoder::Feed(std::string_view input, std::size_t& used, std::string& body) {
    const std::size_t total = input.size();
    ParseStatus status = ParseStatus::kNeedMore;
    for (bool moved = true; moved && status == ParseStatus::kNeedMore;) {
        status = Step(input, body, moved);
    }
    used = total - input.size();
    return status;
}

ParseStatus ChunkDecoder::Step(std::string_view& input, std::string& body, bool& moved) {
    moved = !input.empty();
    if (!moved) return ParseStatus::kNeedMore;
    if (stage_ == Stage::kData) {
        TakeData(input, body);
        return ParseStatus::kNeedMore;
    }
    const std::size_t longest = stage_ == Stage::kTrailer ? kMaxTrailerLine : kMaxSizeLine;
    const std::size_t end = input.substr(0, longest).find('\n');
    if (end == std::string_view::npos) {
        moved = false;
        if (input.size() >= longest) return Bad("a line of the chunked body is too long");
        return ParseStatus::kNeedMore;
    }
    if (end == 0 || input[end - 1] != '\r') return Bad("a line of the body ends without CR LF");
    const std::string_view line = input.substr(0, end - 1);
    input.remove_prefix(end + 1);
    if (stage_ == Stage::kSize) return TakeSize(line, body.size());
    if (stage_ == Stage::kTrailer) return TakeTrailer(line);
    if (!line.empty()) return Bad("a chunk is longer than its size");
    stage_ = Stage::kSize;
    return ParseStatus::kNeedMore;
}

ParseStatus ChunkDecoder::TakeSize(std::string_view line, std::size_t body_size) {
    const std::size_t semicolon = std::min(line.find(';'), line.size());
    const std::string_view digits = line.substr(0, semicolon);
    std::uint64_t size = 0;
    const char* const end = digits.end();
    const auto [stop, error] = std::from_chars(digits.begin(), end, size, 16);
    // from_chars accepts no sign for unsigned types, no prefix and no blank.
    if (digits.empty() || error != std::errc() || stop != end) {
        return Bad("the size of a chunk is no hexadecimal number");
    }
    if (!IsFieldValue(line.substr(semicolon))) return Bad("a chunk's extension is malformed");
    if (size > limits_.body - std::min(body_size, limits_.body)) {
        return Fail(413, "body_too_large",
                    fmt::format("the body is larger than {} bytes", limits_.body));
    }
    left_ = static_cast<std::size_t>(size);
    stage_ = size == 0 ? Stage::kTrailer : Stage::kData;
    return ParseStatus::kNeedMore;
}

ParseStatus ChunkDecoder::TakeTrailer(std::string_view line) {
    if (line.empty()) return ParseStatus::kComplete;
    trailer_bytes_ += line.size();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)) ||
        !IsFieldValue(line.substr(colon + 1))) {
        return Bad("a trailer field is malformed");
    }
    if (trailer_bytes_ > limits_.trailer) {
        return Fail(431, "header_too_large", "the trailer of the body is too large");
    }
    return ParseStatus::kNeedMore;
}

void ChunkDecoder::TakeData(std::string_view& input, std::string& body) {
    const std::size_t take = std::min(left_, input.size());
    body += input.substr(0, take);
    input.remove_prefix(take);
    left_ -= take;
    if (left_ == 0) stage_ = Stage::kDataEnd;
}

}  // namespace ksana::http_server
