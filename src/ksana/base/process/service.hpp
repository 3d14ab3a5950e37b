#pragma once

#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// Something that is started and stopped by the composition root, in order and in reverse order.
// The rules every implementation keeps (tests/support/service_stress.hpp checks them):
//   - Start on a started service and Stop on a stopped one do nothing;
//   - Stop returns when everything the service started has ended, for every caller at once;
//   - Start and Stop may come from several threads at the same time;
//   - a stopped service can be started again;
//   - destruction stops.
class Service {
  public:
    virtual ~Service() = default;

    virtual std::string_view name() const = 0;

    // On an error nothing is left running.
    virtual Result<void> Start() = 0;
    virtual void Stop() = 0;
};

}  // namespace ksana
