#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/model/run/run.hpp"

// The fields of a run that no statement asks for, as two short values instead of twenty columns:
// every column costs the server and us more time than its bytes do. A value is a set of bits that
// says which fields are not their default, and these fields in turn. A new field gets the next bit;
// a program that meets a bit it does not know refuses the row.

namespace ksana::store_postgres {

// priority, and of `unique` all but the key. Empty when all are their default.
void PackFixed(const model::Run& run, std::string& out);
Result<void> UnpackFixed(std::string_view packed, model::Run& run);

// Of RunStatus all that has no column of its own; likewise.
void PackStatus(const model::RunStatus& status, std::string& out);
Result<void> UnpackStatus(std::string_view packed, model::RunStatus& status);

// Labels and selectors as a set of texts that PostgreSQL can compare (<@): "3:gpuyes" is gpu=yes,
// so that no character of a key needs to be forbidden.
std::vector<std::string> PairTexts(const TextMap& pairs);
TextMap PairsOf(const std::vector<std::string>& texts);

// The text form of a text[], for arrays inside an array parameter.
std::string ArrayText(const std::vector<std::string>& texts);

}  // namespace ksana::store_postgres
