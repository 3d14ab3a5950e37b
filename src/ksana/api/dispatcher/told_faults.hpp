#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/error/error.hpp"

namespace ksana::api {

// Returns the faults of a text together with those of its values. A member whose text is wrong has
// no value to speak of, so further faults of it are left out.
inline std::vector<Problem> WithUntold(std::vector<Problem> of_text,
                                       std::vector<Problem> of_values) {
    const std::size_t told = of_text.size();
    for (Problem& one : of_values) {
        const bool known =
            std::any_of(of_text.begin(), of_text.begin() + static_cast<std::ptrdiff_t>(told),
                        [&one](const Problem& other) {
                            return one.path == other.path || one.path.starts_with(other.path + "/");
                        });
        if (!known) of_text.push_back(std::move(one));
    }
    return of_text;
}

}  // namespace ksana::api
