#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ksana/process.hpp"

namespace ksana::app {

// "exported 12000 records …", a few times a second while somebody watches; gone at the end.
class ProgressLine {
  public:
    ProgressLine(const Process& process, std::string_view verb) : process_(process), verb_(verb) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    void Show(std::int64_t records);

  private:
    const Process& process_;
    std::string_view verb_;
    std::optional<SteadyPoint> shown_;
};

}  // namespace ksana::app
