#pragma once

#include "ksana/store/document_stores.hpp"
#include "ksana/store/lock_store.hpp"
#include "ksana/store_kit/documents/documents.hpp"

namespace ksana::store_kit {

// The role stores below keep their values as JSON documents. Each is thread-safe; `backend` must
// outlive it.
class KitTypes final : public store::TypeStore {
  public:
    explicit KitTypes(Backend& backend) : documents_(backend, "type") {}

    Result<store::Versioned<model::RunType>> Put(store::TypeWrite write) override;
    Result<store::Versioned<model::RunType>> Get(const std::string& code) override;
    Result<store::Page<model::RunType>> List(const store::ListParams& params) override;
    Result<void> Delete(store::DeleteTypeParams params) override;

  private:
    Documents documents_;
};

class KitLocks final : public store::LockStore {
  public:
    explicit KitLocks(Backend& backend) : documents_(backend, "lock") {}

    Result<store::LockAnswer> TryAcquire(const store::LockParams& params) override;
    Result<model::Lock> Renew(const store::LockParams& params, std::int64_t fence) override;
    Result<void> Release(const store::LockParams& params, std::int64_t fence) override;
    Result<store::Page<model::Lock>> List(const store::ListParams& params) override;

  private:
    Documents documents_;
};

class KitSettings final : public store::SettingStore {
  public:
    explicit KitSettings(Backend& backend) : documents_(backend, "setting") {}

    Result<model::Document> Put(store::SettingWrite write) override;
    Result<model::Document> Get(const std::string& key) override;
    Result<store::Page<model::Document>> List(const store::ListParams& params) override;
    Result<void> Delete(const std::string& key, store::ExpectedVersion expected,
                        const std::optional<model::AuditEvent>& audit) override;
    Result<std::size_t> PurgeExpired(std::size_t limit) override;

  private:
    Documents documents_;
};

}  // namespace ksana::store_kit
