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

// Reads the query of a request by name and collects faults. Finish reports all of them at once,
// including one for each name that was not read. Faults point to "/query/<name>". A value that is
// absent or wrong reads as empty or as the fallback. Lives in one handler call; the request must
// outlive it.
class QueryReader {
  public:
    explicit QueryReader(const http_server::Request& request) : request_(request) {}

    std::string Text(std::string_view name);
    std::optional<bool> Flag(std::string_view name);
    std::size_t Number(std::string_view name, std::size_t least, std::size_t most,
                       std::size_t fallback);
    std::optional<TimePoint> Time(std::string_view name);  // RFC 3339
    // Reads a duration such as "1h30m", from 0 to `most`.
    Duration Length(std::string_view name, Duration most, Duration fallback);
    std::optional<Uuid> Id(std::string_view name);
    // Returns every value of a name that may be repeated.
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

    // Returns kInvalidArgument with all faults, if there are any. Call it once, after all reads.
    Result<void> Finish();

  private:
    std::optional<std::string_view> Find(std::string_view name);
    void Unknown(std::string_view name);

    const http_server::Request& request_;
    std::vector<std::string_view> known_;
    std::vector<Problem> problems_;
};

}  // namespace ksana::api
