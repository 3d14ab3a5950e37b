#pragma once

#include "ksana/store/store.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_kit {

// store::RecordStore on top of a driver. `backend` must outlive it. Thread-safe.
class KitRecords final : public store::RecordStore {
  public:
    explicit KitRecords(Backend& backend) : backend_(backend) {}

    Result<store::Page<model::Record>> Read(const std::string& cursor, std::size_t limit) override;
    Result<void> Add(const std::vector<model::Record>& records) override;
    Result<store::RecordCounts> Counts() override;

  private:
    Backend& backend_;
};

}  // namespace ksana::store_kit
