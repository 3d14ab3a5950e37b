#pragma once

#include <string>
#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/json/json_reader.hpp"

// Used inside codec/ only: what the parts of document T share.

namespace ksana::codec {

// Tenants and creators are numbers in document T and texts in the model. Both forms are read; a
// text that looks like a number is written as one.
void ReadNumberOrText(ObjectReader& object, std::string_view key, std::string& out);
void WriteNumberOrText(JsonOutput& output, std::string_view key, const std::string& text);

// "默认为0": the creator is 0 if none is named.
void ReadCreator(ObjectReader& object, std::string& out);
void WriteCreator(JsonOutput& output, const std::string& creator);

// Ignores members that only answers have, so that a copy of an answer can be sent back.
template <std::size_t N>
void Ignore(ObjectReader& object, const std::string_view (&keys)[N]) {
    for (const std::string_view key : keys) (void)object.Find(key);
}

// Writes the data of a task, {} if there is none.
void WriteExt(JsonOutput& output, const std::string& payload);

}  // namespace ksana::codec
