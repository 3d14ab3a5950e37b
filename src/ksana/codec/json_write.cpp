#include "ksana/codec/json_write.hpp"

#include "ksana/codec/json_output.hpp"

namespace ksana::codec {

std::string WriteJson(const boost::json::value& value, JsonStyle style) {
    JsonOutput output(style);
    output.Value(value);
    return output.Take();
}

}  // namespace ksana::codec
