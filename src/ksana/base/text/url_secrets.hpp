#pragma once

#include <string>
#include <string_view>

namespace ksana {

// Returns the URL for messages: the password between "user:" and "@" and the values of parameters
// that can be a password are "***", and unprintable bytes are escaped. In a URL with more than one
// '@', it hides too much rather than too little.
std::string HideUrlSecrets(std::string_view url);

}  // namespace ksana
