#include "ksana/store_postgres/rows/packed_run.hpp"

#include <charconv>

#include <fmt/core.h>

#include "ksana/store_kit/driver/pack_reader.hpp"
#include "ksana/store_kit/driver/pack_writer.hpp"

namespace ksana::store_postgres {
namespace {

using model::Run;
using model::RunStatus;
using store_kit::PackReader;
using store_kit::PackWriter;

template <class Io, class AnyRun>
void VisitFixed(Io& io, AnyRun& run) {
    io.Field(run.priority, model::kDefaultPriority);
    io.Field(run.unique.states, model::kUnfinishedStates);
    io.Field(run.unique.until, {});
    io.Field(run.trace_parent, {});
}

template <class Io, class AnyStatus>
void VisitStatus(Io& io, AnyStatus& status) {
    io.Field(status.failures, 0);
    io.Field(status.fence, 0);
    io.Field(status.exec_id, {});
    io.Field(status.last_report, {});
    io.Field(status.outcome, {});
    io.Field(status.lease_until, {});
    io.Field(status.deadline, {});
    io.Field(status.started_at, {});
    io.Field(status.ended_at, {});
    io.Field(status.progress, 0);
    io.Field(status.progress_note, {});
    io.Flag(status.cancel_requested);
    io.Flag(status.not_stopping);
    io.Field(status.result, {});
    io.Field(status.detail, {});
    io.Field(status.remark, {});
    io.Field(status.skip_reason, model::SkipReason::kNone);
    io.Field(status.wait_until, {});
    io.Flag(status.watched);
}

Error Damaged() {
    return {Code::kDataLoss, "PostgreSQL: a stored run is damaged, or made by a newer program"};
}

}  // namespace

void PackFixed(const Run& run, std::string& out) {
    PackWriter writer(out);
    VisitFixed(writer, run);
}

Result<void> UnpackFixed(std::string_view packed, Run& run) {
    PackReader reader(packed);
    VisitFixed(reader, run);
    if (!reader.done()) return Damaged();
    return {};
}

void PackStatus(const RunStatus& status, std::string& out) {
    PackWriter writer(out);
    VisitStatus(writer, status);
}

Result<void> UnpackStatus(std::string_view packed, RunStatus& status) {
    PackReader reader(packed);
    VisitStatus(reader, status);
    if (!reader.done()) return Damaged();
    return {};
}

std::vector<std::string> PairTexts(const TextMap& pairs) {
    std::vector<std::string> texts;
    texts.reserve(pairs.size());
    for (const auto& [key, value] : pairs) {
        texts.push_back(fmt::format("{}:{}{}", key.size(), key, value));
    }
    return texts;
}

TextMap PairsOf(const std::vector<std::string>& texts) {
    TextMap pairs;
    for (const std::string_view text : texts) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) continue;
        std::size_t length = 0;
        std::from_chars(text.data(), text.data() + colon, length);
        const std::string_view rest = text.substr(colon + 1);
        if (length > rest.size()) continue;
        pairs.Add(std::string(rest.substr(0, length)), std::string(rest.substr(length)));
    }
    return pairs;
}

std::string ArrayText(const std::vector<std::string>& texts) {
    std::string out = "{";
    for (const std::string& text : texts) {
        if (out.size() > 1) out.push_back(',');
        out.push_back('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') out.push_back('\\');
            out.push_back(c);
        }
        out.push_back('"');
    }
    out.push_back('}');
    return out;
}

}  // namespace ksana::store_postgres
