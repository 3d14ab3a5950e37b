#pragma once

#include <vector>

#include "ksana/store_postgres/fire_locks.hpp"
#include "ksana/store_postgres/run_batch.hpp"

namespace ksana::store_postgres {

// Runs that are to be inserted, by the table they go to.
struct NewRunRows {
    RunBatch open;
    RunBatch final;
    FireJobs fires;
    std::vector<Uuid> ids;  // of all, in the order in which they were added

    void Add(const RunRow& row) {
        (model::IsFinal(row.run->status.state) ? final : open).Add(row);
        fires.Add(*row.run);
        ids.push_back(row.run->id);
    }
    void Append(const NewRunRows& other) {
        open.Append(other.open);
        final.Append(other.final);
        fires.Append(other.fires);
        ids.insert(ids.end(), other.ids.begin(), other.ids.end());
    }
};

}  // namespace ksana::store_postgres
