#include "ksana/telemetry/build_info.hpp"

namespace ksana::telemetry {

std::string_view BuildRevision() { return KSANA_REVISION; }

}  // namespace ksana::telemetry
