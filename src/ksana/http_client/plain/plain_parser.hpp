#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/http_client/answer_intake.hpp"
#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

enum class ParseStatus : std::uint8_t { kNeedMore, kComplete, kFault };

// Reads an answer of HTTP/1 as its bytes come, however they are cut. Knows no sockets. It takes
// what libcurl takes and says of the rest what libcurl says, so that it does not matter which way a
// call went; but a connection whose answer two programs could read differently is not used again.
// Interim answers are skipped; they count among the bytes of headers, so that there is an end.
class PlainParser {
  public:
    // For one answer; both must outlive the reading.
    void Begin(AnswerIntake& intake, CallAnswer& answer, bool to_head);

    // Takes what belongs to the answer off the front of `bytes`.
    ParseStatus Feed(std::string_view& bytes);

    // The other side will send no more.
    ParseStatus End();

    // Of a complete answer: the connection may carry another call.
    bool keep_alive() const { return keep_alive_; }

    // Why it is none; empty for what AnswerIntake knows (too many headers) and for a head that
    // breaks off.
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

    AnswerIntake* intake_ = nullptr;
    CallAnswer* answer_ = nullptr;
    State state_ = State::kDone;
    bool to_head_ = false;
    bool keep_alive_ = false;
    bool chunked_ = false;
    bool has_length_ = false;
    bool until_close_ = false;  // there is a length, and it does not count
    bool says_close_ = false;
    bool says_keep_alive_ = false;
    bool ambiguous_ = false;     // two programs could read it differently
    bool header_seen_ = false;   // a line can only continue one
    std::uint64_t left_ = 0;     // of the body or the chunk
    std::size_t digits_ = 0;     // of the chunk's size
    std::size_t extension_ = 0;  // bytes behind the chunk's size
    std::string partial_;        // the beginning of a line
    std::string fault_;
};

}  // namespace ksana::http_client
