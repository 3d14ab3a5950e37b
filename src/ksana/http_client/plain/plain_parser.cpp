#include "ksana/http_client/plain/plain_parser.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "ksana/base/text/names.hpp"

namespace ksana::http_client {
namespace {

constexpr std::string_view kPrefix = "HTTP/";
constexpr std::size_t kMostDigits = 16;  // of a chunk size

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// `lower` is in lower case.
bool Is(std::string_view text, std::string_view lower) {
    return text.size() == lower.size() && std::ranges::equal(text, lower, {}, Lower);
}

bool Mentions(std::string_view text, std::string_view lower) {
    return !std::ranges::search(text, lower, {}, Lower).empty();
}

int HexValue(char c) {
    if (IsDigit(c)) return c - '0';
    const char lower = Lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string UnsupportedVersion(std::string_view version) {
    const bool known =
        version.size() == 3 && version[1] == '.' && IsDigit(version[0]) && IsDigit(version[2]);
    return known ? fmt::format("Unsupported HTTP version ({}) in response", version)
                 : "Unsupported HTTP version in response";
}

}  // namespace

void PlainParser::Begin(AnswerCollector& intake, CallAnswer& answer, bool to_head) {
    intake_ = &intake;
    answer_ = &answer;
    to_head_ = to_head;
    state_ = State::kStatusLine;
    keep_alive_ = false;
    partial_.clear();
    fault_.clear();
}

ParseStatus PlainParser::Feed(std::string_view& bytes) {
    while (!bytes.empty()) {
        const ParseStatus status = Step(bytes);
        if (status != ParseStatus::kNeedMore) return status;
    }
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::Step(std::string_view& bytes) {
    switch (state_) {
        case State::kStatusLine:
        case State::kHeaderLine:
        case State::kTrailer:
            return TakeLines(bytes);
        case State::kBodyOfLength:
        case State::kBodyUntilClose:
        case State::kChunkData:
            return TakeBody(bytes);
        case State::kChunkSize:
            return TakeChunkSize(bytes);
        case State::kChunkExtension:
            return TakeChunkExtension(bytes);
        case State::kChunkEnd:
            return TakeChunkEnd(bytes);
        case State::kDone:
            return ParseStatus::kComplete;
        case State::kBroken:
            break;
    }
    return ParseStatus::kFault;
}

ParseStatus PlainParser::End() {
    switch (state_) {
        case State::kStatusLine:
            return Fault("Empty reply from server");
        case State::kHeaderLine:
        case State::kBroken:
            state_ = State::kBroken;
            return ParseStatus::kFault;
        case State::kBodyOfLength:
            return Fault(fmt::format("transfer closed with {} bytes remaining to read", left_));
        case State::kBodyUntilClose:
            return Done();
        case State::kDone:
            return ParseStatus::kComplete;
        default:
            return Fault("transfer closed with outstanding read data remaining");
    }
}

// Takes one line, or the part of it that has arrived.
ParseStatus PlainParser::TakeLines(std::string_view& bytes) {
    const std::size_t end = bytes.find('\n');
    const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    if (!intake_->AllowsLine(partial_.size() + size)) return Fault("");
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (end != std::string_view::npos && partial_.empty()) return TakeLine(part);
    partial_ += part;
    if (end != std::string_view::npos) {
        const ParseStatus status = TakeLine(partial_);
        partial_.clear();
        return status;
    }
    const std::string_view prefix = kPrefix.substr(0, partial_.size());
    if (state_ == State::kStatusLine && !partial_.starts_with(prefix)) {
        return Fault("Received HTTP/0.9 when not allowed");
    }
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeLine(std::string_view line) {
    return state_ == State::kStatusLine ? TakeStatusLine(line) : TakeHeaderLine(line);
}

ParseStatus PlainParser::TakeStatusLine(std::string_view line) {
    if (!line.starts_with(kPrefix)) return Fault("Received HTTP/0.9 when not allowed");
    std::string_view rest = line.substr(kPrefix.size());
    const std::string_view version = rest.substr(0, rest.find_first_of(" \r\n"));
    rest.remove_prefix(version.size());
    if (version == "1.1") {
        answer_->http_version = 11;
    } else if (version == "1.0") {
        answer_->http_version = 10;
    } else if (version == "2") {  // some servers send this and mean HTTP/1.1
        answer_->http_version = 20;
    } else {
        return Fault(UnsupportedVersion(version));
    }
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const bool three = rest.size() > 3 && std::all_of(rest.begin(), rest.begin() + 3, IsDigit);
    if (!three || rest[0] == '0' || !Trimmed(rest.substr(3, 1)).empty()) {
        answer_->http_version = 0;
        return Fault("Unsupported response code in HTTP response");
    }
    answer_->status = (rest[0] - '0') * 100 + (rest[1] - '0') * 10 + (rest[2] - '0');
    intake_->TakeHeaderLine(line);
    chunked_ = has_length_ = until_close_ = says_close_ = says_keep_alive_ = ambiguous_ = false;
    header_seen_ = false;
    left_ = 0;
    state_ = State::kHeaderLine;
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeHeaderLine(std::string_view line) {
    if (line == "\r\n" || line == "\n") {
        intake_->TakeHeaderLine(line);
        return state_ == State::kTrailer ? Done() : EndHead();
    }
    if (line.find('\0') != std::string_view::npos) return Fault("Nul byte in header");
    const std::size_t colon = line.find(':');
    const bool folded = line.front() == ' ' || line.front() == '\t';
    if (folded ? !header_seen_ : colon == std::string_view::npos) {
        return Fault(folded ? "Folded line without a header" : "Header without colon");
    }
    header_seen_ = true;
    if (folded) ambiguous_ = true;
    if (!intake_->TakeHeaderLine(line)) return Fault("");
    // Trailers come after the body and cannot change its length.
    if (folded || state_ == State::kTrailer) return ParseStatus::kNeedMore;
    return TakeFraming(line.substr(0, colon), Trimmed(line.substr(colon + 1)));
}

ParseStatus PlainParser::TakeFraming(std::string_view name, std::string_view value) {
    // Implementations differ on whether a blank before the colon belongs to the name.
    if (!name.empty() && (name.back() == ' ' || name.back() == '\t')) ambiguous_ = true;
    if (Is(name, "content-length")) return TakeLength(value);
    if (Is(name, "transfer-encoding")) return TakeCodings(value);
    if (Is(name, "connection")) {
        if (Mentions(value, "close")) says_close_ = true;
        if (Mentions(value, "keep-alive")) says_keep_alive_ = true;
    }
    return ParseStatus::kNeedMore;
}

// The last Content-Length counts, and only its leading digits.
ParseStatus PlainParser::TakeLength(std::string_view value) {
    if (value.starts_with('+')) {
        ambiguous_ = true;
        value.remove_prefix(1);
    }
    std::int64_t length = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, length);
    if (value.empty() || error == std::errc::invalid_argument || value.front() == '-') {
        return Fault("Invalid Content-Length: value");
    }
    if (error == std::errc::result_out_of_range) until_close_ = true;
    if (stop != end || (has_length_ && left_ != static_cast<std::uint64_t>(length))) {
        ambiguous_ = true;
    }
    has_length_ = true;
    left_ = static_cast<std::uint64_t>(length);
    return ParseStatus::kNeedMore;
}

// The client offers no transfer coding, so only chunked (and identity) may come.
ParseStatus PlainParser::TakeCodings(std::string_view value) {
    if (chunked_ || !Is(value, "chunked")) ambiguous_ = true;
    while (!value.empty()) {
        const std::string_view coding = Trimmed(value.substr(0, value.find(',')));
        value.remove_prefix(std::min(value.size(), value.find(',')));
        if (value.starts_with(',')) value.remove_prefix(1);
        if (Is(coding, "chunked")) {
            chunked_ = true;
        } else if (Is(coding, "identity")) {
            until_close_ = true;
        } else if (!coding.empty()) {
            return Fault("Unrecognized transfer coding in response");
        }
    }
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::EndHead() {
    if (answer_->status < 200) {
        state_ = State::kStatusLine;
        return ParseStatus::kNeedMore;
    }
    const bool lasting = answer_->http_version == 11 || says_keep_alive_;
    if (has_length_ && chunked_) ambiguous_ = true;
    keep_alive_ = lasting && !says_close_ && !ambiguous_ && answer_->http_version != 20;
    if (to_head_ || answer_->status == 204 || answer_->status == 304) return Done();
    if (chunked_) {
        state_ = State::kChunkSize;
        digits_ = 0;
        left_ = 0;
        return ParseStatus::kNeedMore;
    }
    if (has_length_ && !until_close_) {
        state_ = State::kBodyOfLength;
        return left_ == 0 ? Done() : ParseStatus::kNeedMore;
    }
    keep_alive_ = false;
    state_ = State::kBodyUntilClose;
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeBody(std::string_view& bytes) {
    std::size_t size = bytes.size();
    if (state_ != State::kBodyUntilClose) size = std::min<std::uint64_t>(size, left_);
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    left_ -= state_ == State::kBodyUntilClose ? 0 : size;
    if (!intake_->TakeBody(part)) {
        keep_alive_ = false;
        return Done();
    }
    if (state_ == State::kBodyUntilClose || left_ > 0) return ParseStatus::kNeedMore;
    if (state_ == State::kBodyOfLength) return Done();
    state_ = State::kChunkEnd;
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeChunkSize(std::string_view& bytes) {
    const int value = HexValue(bytes.front());
    if (value >= 0) {
        if (digits_ == kMostDigits) return Fault("Too long hexadecimal number in chunked-encoding");
        left_ = left_ << 4U | static_cast<std::uint64_t>(value);
        ++digits_;
        bytes.remove_prefix(1);
        return ParseStatus::kNeedMore;
    }
    if (digits_ == 0 || left_ > std::numeric_limits<std::int64_t>::max()) {
        return Fault("Illegal or missing hexadecimal sequence in chunked-encoding");
    }
    state_ = State::kChunkExtension;
    extension_ = 0;
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeChunkExtension(std::string_view& bytes) {
    const std::size_t end = bytes.find('\n');
    const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    extension_ += size;
    if (!intake_->AllowsLine(extension_)) return Fault("");
    bytes.remove_prefix(size);
    if (end == std::string_view::npos) return ParseStatus::kNeedMore;
    header_seen_ = false;
    state_ = left_ == 0 ? State::kTrailer : State::kChunkData;
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::TakeChunkEnd(std::string_view& bytes) {
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (c == '\n') {
        state_ = State::kChunkSize;
        digits_ = 0;
    } else if (c != '\r') {
        return Fault("Malformed encoding found in chunked-encoding");
    }
    return ParseStatus::kNeedMore;
}

ParseStatus PlainParser::Done() {
    state_ = State::kDone;
    return ParseStatus::kComplete;
}

ParseStatus PlainParser::Fault(std::string text) {
    state_ = State::kBroken;
    fault_ = std::move(text);
    return ParseStatus::kFault;
}

}  // namespace ksana::http_client
