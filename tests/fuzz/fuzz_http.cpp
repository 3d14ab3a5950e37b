#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/http_server/wire/chunk_decoder.hpp"
#include "ksana/http_server/wire/head_parser.hpp"

namespace {

using namespace ksana::http_server;

// Checks that a head parses the same however it is split into packets, and that an accepted head
// keeps the guarantees that handlers rely on.
std::size_t CheckHead(std::string_view text) {
    HeadParser whole({});
    const ParseStatus status = whole.Feed(text);
    HeadParser slow({});
    ParseStatus slow_status = ParseStatus::kNeedMore;
    for (std::size_t i = 1; i <= text.size() && slow_status == ParseStatus::kNeedMore; ++i) {
        slow_status = slow.Feed(text.substr(0, i));
    }
    KSANA_CHECK(status == slow_status, "a head depends on how it comes");
    if (status != ParseStatus::kComplete) return text.size();
    KSANA_CHECK(whole.size() == slow.size(), "a head's end depends on how it comes");
    Head& head = whole.head();
    KSANA_CHECK(!head.chunked || !head.content_length, "two lengths");
    for (const std::string& segment : head.target.segments) {
        KSANA_CHECK(ksana::IsUtf8(segment) && segment.find('/') == std::string::npos &&
                        segment.find('\0') == std::string::npos && segment != "..",
                    "a segment that could be taken for something else");
    }
    return whole.size();
}

struct Body {
    ParseStatus status = ParseStatus::kNeedMore;
    std::string text;
    std::size_t used = 0;
};

// Decodes the text in pieces of `piece` bytes.
Body Decode(std::string_view text, std::size_t piece) {
    ChunkDecoder decoder({.body = 4096, .trailer = 256});
    Body body;
    for (std::size_t end = 0; end < text.size() && body.status == ParseStatus::kNeedMore;) {
        end = std::min(end + piece, text.size());
        std::size_t used = 0;
        body.status = decoder.Feed(text.substr(body.used, end - body.used), used, body.text);
        body.used += used;
    }
    KSANA_CHECK(body.text.size() <= 4096, "a body over its limit");
    return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    const std::string_view rest = text.substr(CheckHead(text));
    const Body whole = Decode(rest, rest.size());
    const Body slow = Decode(rest, 1);
    KSANA_CHECK(whole.status == slow.status, "a body depends on how it comes");
    KSANA_CHECK(whole.status != ParseStatus::kComplete ||
                    (whole.text == slow.text && whole.used == slow.used),
                "a body's text depends on how it comes");
    return 0;
}
