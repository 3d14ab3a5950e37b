#include "ksana/lock_etcd/open_etcd_locks.hpp"

#include <utility>

#include "ksana/base/text/utf8.hpp"
#include "ksana/lock_etcd/etcd_locks.hpp"

namespace ksana::lock_etcd {
namespace {

Result<void> CheckOptions(const EtcdLockOptions& options) {
    const auto fault = [](const char* text) { return Error(Code::kInvalidArgument, text); };
    if (options.endpoints.empty()) return fault("etcd: an endpoint is needed");
    for (const EtcdEndpoint& endpoint : options.endpoints) {
        // These characters would end the host in the URL.
        const bool bad = endpoint.host.find_first_of("/?#@\\[] \t\r\n") != std::string::npos;
        if (endpoint.host.empty() || bad) return fault("etcd: an endpoint has an invalid host");
        if (endpoint.port == 0) return fault("etcd: an endpoint has no port");
    }
    if (options.timeout <= Duration::zero()) return fault("etcd: the timeout must be positive");
    if (options.fence_key.empty()) return fault("etcd: the key of the fences is empty");
    if (!IsUtf8(options.user) || !IsUtf8(options.password)) {
        return fault("etcd: user and password must be UTF-8");
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<lock::LockDriver>> OpenEtcdLocks(EtcdLockOptions options) {
    KSANA_TRY_VOID(CheckOptions(options));
    auto locks = std::make_unique<EtcdLocks>(std::move(options));
    KSANA_TRY_VOID(locks->Start());
    return std::unique_ptr<lock::LockDriver>(std::move(locks));
}

}  // namespace ksana::lock_etcd
