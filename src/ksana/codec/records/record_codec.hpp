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

// Returns one line of JSON without its newline: {"job":{…}}, {"run":{…}}, {"attempt":{…}},
// {"ledger":{…}}, {"event":{…}} or {"document":{…}}. Members that have their default are left out.
// Every value comes back equal, including texts that are not UTF-8. Times must be in the years 0000
// to 9999, and doubles finite.
std::string RecordToLine(const Record& record);

// Every fault has its JSON Pointer. The length is not limited: this module wrote the line.
Result<Record> RecordFromLine(std::string_view line);

// Returns the line of a job without what a store keeps about it (version, times, results of its
// runs).
std::string DefinitionToLine(const model::JobDefinition& job);

// Reads a record inside another document, whatever the form of that document.
void ReadRecord(JsonReader& reader, const Node& node, Record& record);

}  // namespace ksana::codec
