#pragma once

#include <list>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"

namespace ksana::store_postgres {

// Ids of the runs that claims of this process have locked right now. A claim would skip these rows
// anyway, but testing each locked row costs the server more than all the rest of a claim. The set
// is only a hint: a missing id, or one whose transaction has just ended, does no harm. Owned by
// PostgresBackend. Thread-safe.
class LockedRunIds {
    using Claims = std::list<std::vector<Uuid>>;

  public:
    // The runs locked by one transaction. Its destructor removes them from the set.
    class Hold {
      public:
        explicit Hold(LockedRunIds& all) : all_(all) {}
        ~Hold() {
            const MutexLock lock(all_.mutex_);
            for (const auto claim : own_) all_.claims_.erase(claim);
        }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

        void Add(std::vector<Uuid> ids) {
            const MutexLock lock(all_.mutex_);
            own_.push_back(all_.claims_.insert(all_.claims_.end(), std::move(ids)));
        }
        // Returns ids held by all transactions of this process, at most kEnough.
        std::vector<Uuid> OfAll() const { return all_.Some(); }

      private:
        LockedRunIds& all_;
        std::vector<Claims::iterator> own_;
    };

  private:
    static constexpr std::size_t kEnough = 5'000;

    std::vector<Uuid> Some() const {
        const MutexLock lock(mutex_);
        std::vector<Uuid> ids;
        for (const std::vector<Uuid>& claim : claims_) {
            if (ids.size() + claim.size() > kEnough) break;
            ids.insert(ids.end(), claim.begin(), claim.end());
        }
        return ids;
    }

    mutable Mutex mutex_;
    Claims claims_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
