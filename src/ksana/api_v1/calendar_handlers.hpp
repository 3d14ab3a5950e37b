#pragma once

#include <memory>

#include "ksana/api_v1/frame.hpp"

namespace ksana::api_v1 {

// Calendars (K-22): kept by name, imported, and what they would do before they are saved.
void AddCalendarRoutes(http_server::Router& router, const std::shared_ptr<Desk>& desk);

}  // namespace ksana::api_v1
