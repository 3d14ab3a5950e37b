#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// The zones of the system's tzdata, read when first asked for and kept. Thread-safe. Zones handed
// out stay as they are; Refresh makes later calls of Find see changed files.
class ZoneDatabase {
  public:
    static constexpr std::string_view kSystemFolder = "/usr/share/zoneinfo";

    explicit ZoneDatabase(std::string folder = std::string(kSystemFolder));

    // An IANA name such as "Europe/Paris", or "UTC". An unknown name is an error that suggests the
    // nearest one.
    Result<std::shared_ptr<const Zone>> Find(std::string_view name);

    // Every zone there is, sorted. Reads the folder tree.
    std::vector<std::string> Names() const;

    // Reads the known zones' files again where they were replaced, and answers the names of those
    // whose rules differ from before. A file that is gone or damaged keeps its last good zone.
    std::vector<std::string> Refresh();

    // "2026f", or "" where the tzdata does not say.
    std::string Version() const;

  private:
    // What tells that a file has been replaced.
    struct Stamp {
        std::uint64_t inode = 0;
        std::int64_t size = 0;
        std::int64_t modified_ns = 0;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };
    struct Entry {
        std::shared_ptr<const Zone> zone;
        Stamp stamp;
    };

    Result<Entry> Load(const std::string& name) const;
    Error Unknown(std::string_view name) const;

    const std::string folder_;
    Mutex mutex_;
    std::map<std::string, Entry, std::less<>> known_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::schedule
