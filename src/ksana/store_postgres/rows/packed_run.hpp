#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/model/run/run.hpp"

// Packs the fields of a run that no statement filters or sorts by into two short values instead of
// twenty columns: every column costs the server and this process more time than its bytes do. A
// value is a bit mask of the fields that differ from their default, followed by these fields. A new
// field gets the next bit; a program that finds an unknown bit refuses the row with kDataLoss.

namespace ksana::store_postgres {

// Packs priority and all of `unique` but the key, and appends the value to `out`: nothing when all
// fields have their default.
void PackFixed(const model::Run& run, std::string& out);
Result<void> UnpackFixed(std::string_view packed, model::Run& run);

// Packs all fields of RunStatus that have no column of their own, in the same way.
void PackStatus(const model::RunStatus& status, std::string& out);
Result<void> UnpackStatus(std::string_view packed, model::RunStatus& status);

// Returns labels or selectors as texts that PostgreSQL can compare as sets (<@). "3:gpuyes" is
// gpu=yes: with the length in front, a key may contain any character.
std::vector<std::string> PairTexts(const TextMap& pairs);
TextMap PairsOf(const std::vector<std::string>& texts);

// Returns the text form of a text[], for arrays inside an array parameter.
std::string ArrayText(const std::vector<std::string>& texts);

}  // namespace ksana::store_postgres
