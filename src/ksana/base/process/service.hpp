#pragma once

#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// A component that the composition root starts in order and stops in reverse order. Every
// implementation keeps these rules (checked by tests/support/service_stress.hpp):
//   - Start on a started service and Stop on a stopped one do nothing;
//   - Stop returns, to each of its callers, only when everything the service started has ended;
//   - Start and Stop may be called from several threads at the same time;
//   - a stopped service can be started again;
//   - the destructor stops the service.
class Service {
  public:
    virtual ~Service() = default;

    virtual std::string_view name() const = 0;

    // On an error nothing is left running.
    virtual Result<void> Start() = 0;
    virtual void Stop() = 0;
};

}  // namespace ksana
