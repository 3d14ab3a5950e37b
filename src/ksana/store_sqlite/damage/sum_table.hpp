#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ksana/base/process/shared_mutex.hpp"

namespace ksana::store_sqlite {

// Checksums by number, from 0; a checksum of 0 is unknown. Thread-safe.
class SumTable {
  public:
    std::uint32_t Get(std::size_t at) {
        const ReaderLock lock(mutex_);
        return at < sums_.size() ? sums_[at] : 0;
    }
    void Set(std::size_t at, std::uint32_t sum) {
        const WriterLock lock(mutex_);
        if (at >= sums_.size()) sums_.resize(at + 1);
        sums_[at] = sum;
    }
    // Forgets all from number `count` on.
    void Cut(std::size_t count) {
        const WriterLock lock(mutex_);
        sums_.resize(std::min(count, sums_.size()));
    }
    std::size_t size() {
        const ReaderLock lock(mutex_);
        return sums_.size();
    }
    // Replaces all.
    void Assign(std::vector<std::uint32_t> sums) {
        const WriterLock lock(mutex_);
        sums_ = std::move(sums);
    }
    // Returns the checksums [from, from + count), with zeros beyond the end.
    std::vector<std::uint32_t> Part(std::size_t from, std::size_t count) {
        std::vector<std::uint32_t> part(count);
        const ReaderLock lock(mutex_);
        for (std::size_t i = 0; i < count && from + i < sums_.size(); ++i) {
            part[i] = sums_[from + i];
        }
        return part;
    }

  private:
    SharedMutex mutex_;
    std::vector<std::uint32_t> sums_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_sqlite
