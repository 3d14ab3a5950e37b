#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/store/document_stores.hpp"
#include "ksana/store_kit/documents/documents.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_kit {

// The workers, as JSON documents. A heartbeat announces nothing to the change feed: it changes
// nothing that anybody waits for. Thread-safe; `backend` must outlive it.
class KitWorkers final : public store::WorkerStore {
  public:
    explicit KitWorkers(Backend& backend) : backend_(backend), documents_(backend, "worker") {}

    Result<model::Worker> Register(model::Worker worker, std::optional<TimePoint> now) override;
    Result<model::Worker> Beat(const store::Heartbeat& beat) override;
    Result<void> Deregister(const std::string& id, const Uuid& incarnation) override;
    Result<model::Worker> RequestDrain(const std::string& id,
                                       const std::optional<model::AuditEvent>& audit) override;
    Result<void> NoteReaped(const std::string& id, TimePoint last_heartbeat_at) override;
    Result<void> NoteAgents(const std::vector<model::Worker>& agents,
                            std::optional<TimePoint> now) override;
    Result<void> Forget(const std::string& id) override;
    Result<void> ForgetSilent(const std::string& id, TimePoint before) override;
    Result<model::Worker> Get(const std::string& id) override;
    Result<store::Page<model::Worker>> List(const store::ListParams& params) override;

  private:
    // What a change does with a row.
    enum class Fate : std::uint8_t { kKeep, kWrite, kDelete };
    // Changes `worker`, the stored row or nothing, and says what becomes of the row.
    using Change = std::function<Result<Fate>(std::optional<model::Worker>& worker, TimePoint at)>;

    Result<void> Update(const std::string& id, std::optional<TimePoint> now, store::Topics topics,
                        const Change& change);
    // The same inside a transaction.
    static Result<Fate> UpdateRow(Transaction& tx, const std::string& id, TimePoint at,
                                  const Change& change);

    Backend& backend_;
    Documents documents_;
};

}  // namespace ksana::store_kit
