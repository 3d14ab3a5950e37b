#include "ksana/http_server/routing/message.hpp"

#include <algorithm>
#include <array>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/names.hpp"

namespace ksana::http_server {
namespace {

struct Phrase {
    int status;
    std::string_view text;
};

constexpr auto kPhrases = std::to_array<Phrase>({
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
});

constexpr std::array<std::string_view, 6> kClassPhrases = {
    "Unknown", "Continue", "OK", "Redirect", "Bad Request", "Internal Server Error"};

}  // namespace

bool SameIgnoringCase(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [](char x, char y) { return Lower(x) == Lower(y); });
}

void Headers::Add(std::string_view name, std::string_view value) {
    const auto here = [this] { return static_cast<std::uint32_t>(text_.size()); };
    Place place{};
    place.begin = here();
    text_ += name;
    place.value = here();
    text_ += value;
    place.end = here();
    places_.push_back(place);
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const Field field = at(i);
        if (SameIgnoringCase(field.name, name)) return field.value;
    }
    return std::nullopt;
}

std::size_t Headers::Count(std::string_view name) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (SameIgnoringCase(at(i).name, name)) ++count;
    }
    return count;
}

Headers::Field Headers::at(std::size_t index) const {
    const Place& place = places_.at(index);
    const std::string_view text = text_;
    return {text.substr(place.begin, place.value - place.begin),
            text.substr(place.value, place.end - place.value)};
}

std::optional<std::string_view> Request::QueryValue(std::string_view name) const {
    for (const auto& [key, value] : query) {
        if (key == name) return value;
    }
    return std::nullopt;
}

const std::string& Request::Parameter(std::string_view name) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [name](const auto& entry) { return entry.first == name; });
    KSANA_CHECK(found != parameters.end(), "the route has no such parameter");
    return found->second;
}

Response JsonResponse(int status, std::string json) {
    return {.status = status, .content_type = "application/json", .body = std::move(json)};
}

Response TextResponse(int status, std::string text) {
    return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

Response NoContent() { return {.status = 204}; }

std::string_view ReasonPhrase(int status) {
    for (const Phrase& phrase : kPhrases) {
        if (phrase.status == status) return phrase.text;
    }
    const int kind = status / 100;
    return kClassPhrases.at(kind >= 1 && kind <= 5 ? static_cast<std::size_t>(kind) : 0);
}

}  // namespace ksana::http_server
