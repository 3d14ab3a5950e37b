#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/http_client/answer_collector.hpp"
#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

enum class ParseStatus : std::uint8_t { kNeedMore, kComplete, kFault };

// Incremental parser of HTTP/1 answers; bytes may arrive in pieces of any size. It accepts what
// libcurl accepts and reports the rest with libcurl's error texts, so that it does not matter which
// path a call takes. It is stricter in one point: after an ambiguous answer, one that two programs
// could read differently, the connection is not reused (0017).
//
// Interim (1xx) answers are skipped. They count towards max_header_bytes, so that a target cannot
// send them forever. Owned by a PlainConnection; client's thread only.
class PlainParser {
  public:
    // Starts the next answer. `intake` and `answer` must outlive its parsing. `to_head`: the
    // request was a HEAD, so the answer has no body.
    void Begin(AnswerCollector& intake, CallAnswer& answer, bool to_head);

    // Parses `bytes` and removes from their front those that belong to the answer.
    ParseStatus Feed(std::string_view& bytes);

    // Ends the input: the target has closed the connection.
    ParseStatus End();

    // Valid after kComplete: whether the connection may carry another call.
    bool keep_alive() const { return keep_alive_; }

    // Error text after kFault. Empty if the head breaks off or exceeds max_header_bytes (see
    // AnswerCollector::too_many_headers).
    const std::string& fault() const { return fault_; }

  private:
    enum class State : std::uint8_t {
        kStatusLine,
        kHeaderLine,
        kBodyOfLength,
        kBodyUntilClose,
        kChunkSize,
        kChunkExtension,
        kChunkData,
        kChunkEnd,
        kTrailer,
        kDone,
        kBroken,
    };

    ParseStatus Step(std::string_view& bytes);
    ParseStatus TakeLines(std::string_view& bytes);
    ParseStatus TakeLine(std::string_view line);
    ParseStatus TakeStatusLine(std::string_view line);
    ParseStatus TakeHeaderLine(std::string_view line);
    ParseStatus TakeFraming(std::string_view name, std::string_view value);
    ParseStatus TakeLength(std::string_view value);
    ParseStatus TakeCodings(std::string_view value);
    ParseStatus EndHead();
    ParseStatus TakeBody(std::string_view& bytes);
    ParseStatus TakeChunkSize(std::string_view& bytes);
    ParseStatus TakeChunkExtension(std::string_view& bytes);
    ParseStatus TakeChunkEnd(std::string_view& bytes);
    ParseStatus Done();
    ParseStatus Fault(std::string text);

    AnswerCollector* intake_ = nullptr;
    CallAnswer* answer_ = nullptr;
    State state_ = State::kDone;
    bool to_head_ = false;
    bool keep_alive_ = false;
    bool chunked_ = false;
    bool has_length_ = false;
    bool until_close_ = false;  // ignore Content-Length
    bool says_close_ = false;
    bool says_keep_alive_ = false;
    bool ambiguous_ = false;     // two programs could read the answer differently
    bool header_seen_ = false;   // a folded line has a header to continue
    std::uint64_t left_ = 0;     // bytes left of the body or the chunk
    std::size_t digits_ = 0;     // hexadecimal digits read of the chunk size
    std::size_t extension_ = 0;  // bytes read after the chunk size, on its line
    std::string partial_;        // a line without its end so far
    std::string fault_;
};

}  // namespace ksana::http_client
