#include "ksana/telemetry/exposition_format.hpp"

#include <algorithm>
#include <charconv>

#include "ksana/base/text/names.hpp"

namespace ksana::telemetry {
namespace {

bool Same(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, Lower, Lower);
}

std::string_view WithoutBlanks(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

// Takes the text up to the next separator off the front, without blanks around it.
std::string_view TakeUntil(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return WithoutBlanks(part);
}

// Returns the weight of a "q" parameter, 0 to 1. One that cannot be read is 0, so that it never
// wins.
double WeightOf(std::string_view text) {
    double weight = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), weight);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && weight >= 0 && weight <= 1 ? weight : 0;
}

struct MediaRange {
    std::string_view type;
    std::string_view version;  // empty: none is named
    double weight = 1;
};

MediaRange ReadRange(std::string_view text) {
    MediaRange range{.type = TakeUntil(text, ';')};
    while (!text.empty()) {
        std::string_view value = TakeUntil(text, ';');
        const std::string_view name = TakeUntil(value, '=');
        if (Same(name, "q")) range.weight = WeightOf(value);
        if (Same(name, "version")) range.version = value;
    }
    return range;
}

}  // namespace

ExpositionFormat ChooseFormat(std::string_view accept) {
    double open = 0;
    double plain = 0;
    while (!accept.empty()) {
        const MediaRange range = ReadRange(TakeUntil(accept, ','));
        if (Same(range.type, "application/openmetrics-text")) {
            const bool known = range.version.empty() || range.version == "1.0.0";
            if (known) open = std::max(open, range.weight);
        } else if (Same(range.type, "text/plain")) {
            plain = std::max(plain, range.weight);
        }
    }
    return open > 0 && open >= plain ? ExpositionFormat::kOpenMetrics
                                     : ExpositionFormat::kPrometheus;
}

std::string_view ContentTypeOf(ExpositionFormat format) {
    return format == ExpositionFormat::kOpenMetrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace ksana::telemetry
