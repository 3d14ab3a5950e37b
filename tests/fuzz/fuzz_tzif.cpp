#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/schedule/zone/zone.hpp"

// Checks that any file is refused or becomes a zone whose segments follow each other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using ksana::schedule::Zone;
    const auto zone = Zone::FromTzif("x", ksana::fuzz::AsText(data, size));
    if (!zone) return 0;
    for (const std::int64_t utc : {-4'000'000'000LL, 0LL, 1'800'000'000LL, 40'000'000'000LL}) {
        const std::int64_t index = (*zone)->IndexAt(utc);
        const auto segment = (*zone)->Segment(index);
        KSANA_CHECK(segment.begin <= utc && utc < segment.end, "an instant outside its segment");
        (void)(*zone)->AbbreviationAt(utc);
        (void)(*zone)->FirstInstantAt(utc);
    }
    return 0;
}
