#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace ksana::codec {

enum class JsonStyle { kCompact, kPretty };

// Text of a value: numbers as people write them (1.5, not 1.5E0), members in their order, two
// blanks of indentation when pretty.
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
