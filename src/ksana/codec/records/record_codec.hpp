#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/record.hpp"

namespace ksana::codec {

class JsonReader;
struct Node;

using model::Record;

// One line of JSON without its newline: {"job":{…}}, {"run":{…}}, {"attempt":{…}}, {"ledger":{…}},
// {"event":{…}} or {"document":{…}}. Members that have their default are left out. Whatever the
// record holds comes back equal, also a text that is no UTF-8; times must lie in the years 0000 to
// 9999, doubles be finite.
std::string RecordToLine(const Record& record);

// Every fault with its JSON Pointer. The line may be of any length: it was written here.
Result<Record> RecordFromLine(std::string_view line);

// The line of the job without what a store keeps about it (version, times, how its runs went).
std::string DefinitionToLine(const model::JobDefinition& job);

// A record inside another document, whatever the form of that is.
void ReadRecord(JsonReader& reader, const Node& node, Record& record);

}  // namespace ksana::codec
