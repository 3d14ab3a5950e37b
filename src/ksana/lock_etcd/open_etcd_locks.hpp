#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock_etcd {

struct EtcdEndpoint {
    std::string host;  // a name or an address; IPv6 without brackets
    std::uint16_t port = 2379;
};

struct EtcdLockOptions {
    // Members of one cluster. They are tried in turn if one does not answer, beginning with the one
    // that answered last.
    std::vector<EtcdEndpoint> endpoints;
    const Clock& clock;  // for deadlines and the first fence; leases use the server's clock
    bool tls = false;
    std::string ca_file;  // PEM; empty: the system's certificates
    std::string user;     // empty: no authentication
    std::string password;
    Duration timeout = std::chrono::seconds(2);  // of a whole Try, Renew or Release
    // A key of the cluster that all installations of Ksana in it may share. It is made once and
    // keeps the fences growing if the cluster loses its data. With authentication, the user needs
    // to read and write it beside the keys of the locks.
    std::string fence_key = "ksana:fence-base";
};

// Locks in etcd through the JSON gateway of its v3 API (G-07). Does not contact the server: one
// that is down or refuses the password shows at the first call. `options.clock` must outlive the
// driver. Returns kInvalidArgument for bad options.
Result<std::unique_ptr<lock::LockDriver>> OpenEtcdLocks(EtcdLockOptions options);

}  // namespace ksana::lock_etcd
