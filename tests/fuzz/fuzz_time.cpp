#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    const auto parsed = ksana::ParseTime(text);
    if (parsed) {
        const auto back = ksana::ParseTime(ksana::FormatTime(*parsed));
        KSANA_CHECK(back && *back == *parsed, "a time does not read back the same");
    }
    return 0;
}
