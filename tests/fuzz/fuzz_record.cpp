#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace {

void CheckRecord(std::string_view text) {
    using namespace ksana;
    const auto parsed = codec::RecordFromLine(text);
    if (!parsed) return;
    const std::string line = codec::RecordToLine(*parsed);
    KSANA_CHECK(line.find('\n') == std::string::npos, "a record is more than one line");
    const auto back = codec::RecordFromLine(line);
    KSANA_CHECK(back && *back == *parsed, "a record does not read back the same");
}

void CheckJobsFile(std::string_view text) {
    using namespace ksana;
    const auto parsed = codec::JobsFileFromJson(text);
    if (!parsed) return;
    std::vector<const model::Job*> jobs;
    for (const model::Job& job : parsed->jobs) jobs.push_back(&job);
    const std::string written = codec::JobsFileToJson(jobs, parsed->updated_at);
    const auto back = codec::JobsFileFromJson(written);
    KSANA_CHECK(back && back->jobs.size() == jobs.size(), "a file of jobs is not read again");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        model::Job expected = *jobs[i];
        // The file stores "paused" for a job that is not enabled, in place of its last state.
        if (!expected.enabled) expected.state.last_state.reset();
        KSANA_CHECK(back->jobs[i] == expected, "a job does not read back the same");
    }
}

}  // namespace

// Checks that accepted records and jobs.json files survive a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    CheckRecord(text);
    CheckJobsFile(text);
    return 0;
}
