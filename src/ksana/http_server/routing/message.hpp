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

// Compares ASCII letters without regard to case.
bool SameIgnoringCase(std::string_view a, std::string_view b);

// Header fields in order of arrival. One string holds all texts, so that a request has two growing
// buffers however many fields it has. Returned views are valid until the object is changed or
// moved. Not thread-safe.
class Headers {
  public:
    struct Field {
        std::string_view name;
        std::string_view value;
    };

    void Add(std::string_view name, std::string_view value);

    // Returns the value of the first field called `name` (case-insensitive).
    std::optional<std::string_view> Find(std::string_view name) const;
    std::size_t Count(std::string_view name) const;

    std::size_t size() const { return places_.size(); }
    Field at(std::size_t index) const;

  private:
    // Offsets in `text_`: the name is [begin, value), the value [value, end).
    struct Place {
        std::uint32_t begin;
        std::uint32_t value;
        std::uint32_t end;
    };

    std::string text_;
    std::vector<Place> places_;
};

using TextPairs = std::vector<std::pair<std::string, std::string>>;

// The authenticated caller, as the authorisation hook identified it. Empty for public routes.
struct Caller {
    std::string name;
};

class BodyRoom;

// A complete, well-formed request. A plain value, so that tests of handlers can make one by hand.
struct Request {
    HttpMethod method = HttpMethod::kGet;
    std::string path;  // as sent, without the query
    std::vector<std::string>
        segments;          // decoded; without slashes and control characters, valid UTF-8
    TextPairs query;       // decoded, in order
    TextPairs parameters;  // of the route's pattern, decoded, in order
    Headers headers;
    std::string body;
    // What the body has taken of the server's memory for bodies; given back with the last copy of
    // the request. Null: made by hand, or without a body.
    std::shared_ptr<BodyRoom> body_room;
    std::string peer;  // IP address of the client, without the port
    std::string request_id;
    Caller caller;
    bool secure = false;  // arrived over TLS

    // Returns the value of the first query parameter called `name`.
    std::optional<std::string_view> QueryValue(std::string_view name) const;
    // Returns a parameter of the route's pattern. Aborts if the pattern has no such parameter.
    const std::string& Parameter(std::string_view name) const;
};

class Stream;

struct Response {
    int status = 200;
    std::string content_type;
    std::string body;
    // In addition to the fields that every answer has. Cache-Control replaces the default.
    TextPairs headers;
    // Instead of `body`: an answer that continues (stream.hpp). The connection closes after it.
    std::shared_ptr<Stream> stream;
};

Response JsonResponse(int status, std::string json);
Response TextResponse(int status, std::string text);
Response NoContent();

// Returns "Not Found" and the like. An unknown status gets the phrase of its class.
std::string_view ReasonPhrase(int status);

}  // namespace ksana::http_server
