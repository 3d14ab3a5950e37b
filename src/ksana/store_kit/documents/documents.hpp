#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/store/document_stores.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_kit {

// The documents of one kind, with a compare-and-set on their versions. An expired document counts
// as absent. `backend` must outlive it. Thread-safe. Errors as in store/document_stores.hpp.
class Documents {
  public:
    Documents(Backend& backend, std::string kind) : backend_(backend), kind_(std::move(kind)) {}

    Result<model::Document> Put(std::string key, std::string body, store::ExpectedVersion expected,
                                std::optional<TimePoint> expires_at = {},
                                const std::optional<model::AuditEvent>& audit = {},
                                store::Topics topics = store::Topic::kDocuments);
    Result<model::Document> Get(const std::string& key);
    Result<store::Page<model::Document>> List(const store::ListParams& params);
    Result<void> Delete(const std::string& key, store::ExpectedVersion expected,
                        const std::optional<model::AuditEvent>& audit = {});
    Result<std::size_t> PurgeExpired(std::size_t limit);

    // Reads a document and writes the body that `change` returns, in one transaction; writes
    // nothing if it returns nothing. `change` may run more than once.
    using Change = std::function<Result<std::optional<std::string>>(
        const std::optional<model::Document>& there, TimePoint now)>;
    // Whether a change is told to the change feed. A heartbeat concerns none of its readers.
    enum class Notice : std::uint8_t { kTold, kNone };
    Result<void> Update(const std::string& key, std::optional<TimePoint> now, const Change& change,
                        Notice notice = Notice::kTold);

  private:
    Error NotFound(const std::string& key) const;

    Backend& backend_;
    std::string kind_;
};

}  // namespace ksana::store_kit
