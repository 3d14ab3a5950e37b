#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    const auto parsed = ksana::ParseDuration(text);
    if (parsed) {
        const auto back = ksana::ParseDuration(ksana::FormatDuration(*parsed));
        KSANA_CHECK(back && *back == *parsed, "a duration does not read back the same");
    }
    return 0;
}
