#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::api {

// The query of a request: values by name, and at the end every fault at once, also one for each
// name nobody asked for. Faults point to "/query/<name>". The request must outlive it.
class QueryReader {
  public:
    explicit QueryReader(const http_server::Request& request) : request_(request) {}

    std::string Text(std::string_view name);
    std::optional<bool> Flag(std::string_view name);
    std::size_t Number(std::string_view name, std::size_t least, std::size_t most,
                       std::size_t fallback);
    std::optional<TimePoint> Time(std::string_view name);  // RFC 3339
    // "1h30m", from nothing to `most`.
    Duration Length(std::string_view name, Duration most, Duration fallback);
    std::optional<Uuid> Id(std::string_view name);
    // Of a name that may stand more than once.
    std::vector<std::string_view> All(std::string_view name);

    template <class E>
    std::optional<E> Name(std::string_view name) {
        const auto text = Find(name);
        if (!text) return std::nullopt;
        const auto value = model::FromName<E>(*text);
        if (!value) NotAllowed(name, *text, model::EnumNames<E>::kNames);
        return value;
    }

    void Fault(std::string_view name, std::string message, std::string_view code = "invalid");
    void NotAllowed(std::string_view name, std::string_view value,
                    std::span<const std::string_view> allowed);

    Result<void> Finish();

  private:
    std::optional<std::string_view> Find(std::string_view name);
    void Unknown(std::string_view name);

    const http_server::Request& request_;
    std::vector<std::string_view> known_;
    std::vector<Problem> problems_;
};

}  // namespace ksana::api
