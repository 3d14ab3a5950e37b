#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/base/text/http_method.hpp"

namespace ksana::http_server {

// Equal but for the case of ASCII letters.
bool SameIgnoringCase(std::string_view a, std::string_view b);

// Header fields in the order they came. All texts lie in one string, so that a request costs two
// allocations however many fields it has. Views that are handed out live until the next change or
// move of the object.
class Headers {
  public:
    struct Field {
        std::string_view name;
        std::string_view value;
    };

    void Add(std::string_view name, std::string_view value);

    // The first of that name, whatever its case.
    std::optional<std::string_view> Find(std::string_view name) const;
    std::size_t Count(std::string_view name) const;

    std::size_t size() const { return places_.size(); }
    Field at(std::size_t index) const;

  private:
    // Name and value stand next to each other.
    struct Place {
        std::uint32_t begin;
        std::uint32_t value;
        std::uint32_t end;
    };

    std::string text_;
    std::vector<Place> places_;
};

using TextPairs = std::vector<std::pair<std::string, std::string>>;

// Who asks, as the authorisation hook found out. Empty for public routes.
struct Caller {
    std::string name;
};

// A request that was read whole and is well-formed. A plain value: handlers can be tested with one
// made by hand.
struct Request {
    HttpMethod method = HttpMethod::kGet;
    std::string path;                   // as it was sent, without the query
    std::vector<std::string> segments;  // decoded; none has a slash, NUL or bad UTF-8 in it
    TextPairs query;                    // decoded, in order
    TextPairs parameters;               // of the route's pattern, decoded
    Headers headers;
    std::string body;
    std::string peer;  // the address, without the port
    std::string request_id;
    Caller caller;
    bool secure = false;  // came over TLS

    // The first of that name.
    std::optional<std::string_view> QueryValue(std::string_view name) const;
    // The route's pattern must have it: asking for another is a programmer error.
    const std::string& Parameter(std::string_view name) const;
};

class Stream;

struct Response {
    int status = 200;
    std::string content_type;
    std::string body;
    // Beside those that every answer has. One named Cache-Control replaces the default.
    TextPairs headers;
    // In the place of the body: an answer that goes on (stream.hpp). The connection ends with it.
    std::shared_ptr<Stream> stream;
};

Response JsonResponse(int status, std::string json);
Response TextResponse(int status, std::string text);
Response NoContent();

// "Not Found"; a status without a name of its own has its class's.
std::string_view ReasonPhrase(int status);

}  // namespace ksana::http_server
