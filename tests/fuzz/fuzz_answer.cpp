#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/http_client/plain/plain_parser.hpp"

namespace {

using namespace ksana::http_client;

const CallRequest kRequest{.max_kept = 256, .max_read = 1024, .max_header_bytes = 512};

struct Parsed {
    ParseStatus status = ParseStatus::kNeedMore;
    CallAnswer answer;
    std::size_t left = 0;
    bool keep_alive = false;
    bool stopped = false;
};

// Parses the text in pieces of `piece` bytes, then signals the end of the stream.
Parsed Parse(std::string_view text, std::size_t piece, bool to_head) {
    Parsed parsed;
    AnswerCollector intake(kRequest, parsed.answer);
    PlainParser parser;
    parser.Begin(intake, parsed.answer, to_head);
    while (!text.empty() && parsed.status == ParseStatus::kNeedMore) {
        std::string_view bytes = text.substr(0, piece);
        const std::size_t size = bytes.size();
        parsed.status = parser.Feed(bytes);
        text.remove_prefix(size - bytes.size());
        KSANA_CHECK(bytes.empty() || parsed.status != ParseStatus::kNeedMore, "bytes left over");
    }
    if (parsed.status == ParseStatus::kNeedMore) parsed.status = parser.End();
    KSANA_CHECK(parsed.status != ParseStatus::kNeedMore, "an answer without an end");
    parsed.left = text.size();
    parsed.keep_alive = parser.keep_alive();
    parsed.stopped = intake.stopped_reading();
    return parsed;
}

}  // namespace

// Checks that an answer parses the same however it is split into packets, and stays within its
// limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    for (const bool to_head : {false, true}) {
        const Parsed whole = Parse(text, text.size(), to_head);
        const Parsed slow = Parse(text, 1, to_head);
        KSANA_CHECK(whole.answer.body.size() <= kRequest.max_kept, "a body over its limit");
        KSANA_CHECK(whole.status == slow.status, "an answer depends on how it comes");
        if (whole.status != ParseStatus::kComplete) continue;
        KSANA_CHECK(whole.answer.status >= 200 && whole.answer.status <= 999, "no status");
        KSANA_CHECK(whole.answer.status == slow.answer.status &&
                        whole.answer.headers == slow.answer.headers &&
                        whole.answer.body == slow.answer.body,
                    "an answer's content depends on how it comes");
        KSANA_CHECK(whole.keep_alive == slow.keep_alive,
                    "a connection's end depends on how it comes");
        KSANA_CHECK(whole.stopped || whole.left == slow.left,
                    "an answer's end depends on how it comes");
    }
    return 0;
}
