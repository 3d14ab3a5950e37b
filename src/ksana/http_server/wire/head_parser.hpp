#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/problem.hpp"
#include "ksana/http_server/wire/target.hpp"

namespace ksana::http_server {

// The parsed head of a request.
struct Head {
    HttpMethod method = HttpMethod::kGet;
    Target target;
    int minor_version = 1;  // of HTTP/1.x
    Headers headers;
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool keep_alive = true;
    bool expects_continue = false;
};

enum class ParseStatus : std::uint8_t { kNeedMore, kComplete, kFault };

// Incremental parser of the head of an HTTP/1 request. It rejects every form that two programs
// could read differently (request smuggling): bare LF or CR, folded lines, blanks before the colon,
// control characters, Content-Length together with Transfer-Encoding, either of them twice, codings
// other than chunked, a missing or second Host. (Beast's parser silently joins folded lines.) Owned
// by a Connection. Not thread-safe.
class HeadParser {
  public:
    struct Limits {
        std::size_t bytes = std::size_t{16} * 1024;
        std::size_t fields = 100;
    };

    explicit HeadParser(const Limits& limits) : limits_(limits) {}

    // Parses `data`, which holds everything from the start of the request; each call repeats the
    // bytes of the previous one and may add more. After kComplete or kFault, call Reset first.
    ParseStatus Feed(std::string_view data);
    void Reset();

    std::size_t size() const { return line_begin_; }  // bytes of a complete head
    Head& head() { return head_; }
    const Fault& fault() const { return fault_; }

  private:
    ParseStatus Fail(int status, std::string_view code, std::string detail);
    ParseStatus Bad(std::string detail) { return Fail(400, "bad_request", std::move(detail)); }
    ParseStatus TooLarge();
    ParseStatus TakeLine(std::string_view line);
    ParseStatus TakeRequestLine(std::string_view line);
    ParseStatus TakeVersion(std::string_view text);
    ParseStatus TakeField(std::string_view line);
    ParseStatus Finish();
    ParseStatus CheckHost();
    ParseStatus CheckFraming();
    ParseStatus CheckConnection();

    const Limits limits_;
    Head head_;
    Fault fault_;
    std::size_t line_begin_ = 0;
    std::size_t scanned_ = 0;  // bytes searched for a line end
    bool have_request_line_ = false;
    bool skipped_empty_line_ = false;
};

}  // namespace ksana::http_server
