#pragma once

#include <string>
#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/json/json_reader.hpp"

// Inside codec/ only: what the parts of document T have in common.

namespace ksana::codec {

// Tenants and creators are numbers in document T and texts inside: both are read, and what is
// written like a number is shown as one.
void ReadNumberOrText(ObjectReader& object, std::string_view key, std::string& out);
void WriteNumberOrText(JsonOutput& output, std::string_view key, const std::string& text);

// "默认为0": who made it is 0 where nobody is named.
void ReadCreator(ObjectReader& object, std::string& out);
void WriteCreator(JsonOutput& output, const std::string& creator);

// What an answer has and a request cannot say: a copy of an answer may be sent back.
template <std::size_t N>
void PassOver(ObjectReader& object, const std::string_view (&keys)[N]) {
    for (const std::string_view key : keys) (void)object.Find(key);
}

// A task's own data, {} where there is none.
void WriteExt(JsonOutput& output, const std::string& payload);

}  // namespace ksana::codec
