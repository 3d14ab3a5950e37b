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

// The zones of the system's tzdata, read on first use and cached. Thread-safe. Zones that were
// returned never change; after Refresh, Find returns zones from the changed files.
class ZoneDatabase {
  public:
    static constexpr std::string_view kSystemFolder = "/usr/share/zoneinfo";

    explicit ZoneDatabase(std::string folder = std::string(kSystemFolder));

    // Finds a zone by its IANA name, such as "Europe/Paris", or "UTC". An unknown name is
    // kInvalidArgument with a suggestion; kUnavailable if the folder has no zones or cannot be
    // read.
    Result<std::shared_ptr<const Zone>> Find(std::string_view name);

    // Returns the names of all zones, sorted. Reads the folder tree on every call.
    std::vector<std::string> Names() const;

    // Rereads the files of cached zones that were replaced, and returns the names of the zones
    // whose rules changed. If a file is gone or damaged, its last good zone stays.
    std::vector<std::string> Refresh();

    // Returns the tzdata version, "2026f", or "" if it is unknown.
    std::string Version() const;

  private:
    // Identifies a version of a file.
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
