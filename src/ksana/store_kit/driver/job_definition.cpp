#include "ksana/store_kit/driver/job_definition.hpp"

#include "ksana/codec/records/record_codec.hpp"

namespace ksana::store_kit {

std::string DefinitionText(const model::Job& job) { return codec::DefinitionToLine(job); }

Result<model::Job> DefinitionFromText(std::string_view text) {
    auto record = codec::RecordFromLine(text);
    auto* const job = record ? std::get_if<model::Job>(&*record) : nullptr;
    if (job != nullptr) return std::move(*job);
    return Error(Code::kDataLoss, "a stored job cannot be read: " +
                                      (record ? "it is no job" : record.error().Describe()));
}

}  // namespace ksana::store_kit
