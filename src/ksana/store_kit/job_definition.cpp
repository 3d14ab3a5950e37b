#include "ksana/store_kit/job_definition.hpp"

#include "ksana/codec/record_codec.hpp"
#include "ksana/model/job_tally.hpp"

namespace ksana::store_kit {

std::string DefinitionText(const model::Job& job) {
    const model::Job fresh;
    model::Job definition = job;
    definition.version = fresh.version;
    definition.created_at = fresh.created_at;
    definition.updated_at = fresh.updated_at;
    definition.planned_until.reset();
    definition.next_run_at.reset();
    model::CopyRunRecord(fresh, definition);
    return codec::RecordToLine(definition);
}

Result<model::Job> DefinitionFromText(std::string_view text) {
    auto record = codec::RecordFromLine(text);
    auto* const job = record ? std::get_if<model::Job>(&*record) : nullptr;
    if (job != nullptr) return std::move(*job);
    return Error(Code::kDataLoss, "a stored job cannot be read: " +
                                      (record ? "it is no job" : record.error().Describe()));
}

}  // namespace ksana::store_kit
