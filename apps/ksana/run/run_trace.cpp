#include "apps/ksana/run/run_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

// Spans of spans, at most: a trace has three levels, and a callback below its run has three more.
constexpr std::size_t kMaxDepth = 10;

struct Row {
    Json span;
    std::size_t depth = 0;
    TimePoint start{};
    TimePoint end{};
    bool open = false;
};

// The rows of a trace, each below its parent. Lives during one call.
class Rows {
  public:
    Rows(const Json& trace, TimePoint now) : now_(now) {
        for (const Json& span : trace.At("/spans").Items()) {
            known_[span.TextAt("/span_id")] = true;
            spans_.push_back(span);
        }
        for (const Json& span : spans_) {
            if (!known_.contains(span.TextAt("/parent_id"))) Add(span, 0);
        }
    }

    std::vector<Row> Take() { return std::move(rows_); }

  private:
    void Add(const Json& span, std::size_t depth) {
        Row row{.span = span, .depth = depth};
        row.start = ParseTime(span.TextAt("/start")).value_or(now_);
        row.open = !span.Has("/end");
        row.end = row.open ? std::max(now_, row.start)
                           : ParseTime(span.TextAt("/end")).value_or(row.start);
        rows_.push_back(std::move(row));
        if (depth == kMaxDepth) return;
        const std::string id = span.TextAt("/span_id");
        for (const Json& child : spans_) {
            if (child.TextAt("/parent_id") == id) Add(child, depth + 1);
        }
    }

    const TimePoint now_;
    std::vector<Json> spans_;
    std::map<std::string, bool> known_;
    std::vector<Row> rows_;
};

// Returns a bar from `start` to `end` in a line that stands for the whole trace.
std::string BarOf(const Row& row, TimePoint from, TimePoint until, std::size_t width) {
    const double whole = std::max<double>(1, static_cast<double>((until - from).count()));
    const auto place = [&](TimePoint at) {
        const double part = static_cast<double>((at - from).count()) / whole;
        return static_cast<std::size_t>(part * static_cast<double>(width));
    };
    const std::size_t begin = std::min(place(row.start), width - 1);
    const std::size_t size = std::max<std::size_t>(1, std::min(place(row.end), width) - begin);
    std::string bar(begin, ' ');
    for (std::size_t i = 0; i < size; ++i) bar += i + 1 == size && row.open ? "…" : "━";
    return bar;
}

Hue HueOfSpan(const Row& row) {
    const std::string status = row.span.TextAt("/status");
    if (status == "error") return Hue::kBad;
    if (row.open) return Hue::kBusy;
    return status == "ok" ? Hue::kGood : Hue::kFaint;
}

}  // namespace

std::string Waterfall(const Json& trace, const Style& style) {
    constexpr std::size_t kBar = 32;
    const std::vector<Row> rows = Rows(trace, style.now).Take();
    std::string text = fmt::format("trace {}\n", Printable(trace.TextAt("/trace_id")));
    if (rows.empty()) return text;
    TimePoint from = rows.front().start;
    TimePoint until = rows.front().end;
    std::size_t widest = 0;
    for (const Row& row : rows) {
        from = std::min(from, row.start);
        until = std::max(until, row.end);
        widest = std::max(widest, 2 * row.depth + TextWidth(Printable(row.span.TextAt("/name"))));
    }
    for (const Row& row : rows) {
        std::string name = std::string(2 * row.depth, ' ') + Printable(row.span.TextAt("/name"));
        name += std::string(widest - TextWidth(name), ' ');
        const std::string took = row.open ? "…" : FormatDuration(row.end - row.start);
        const std::string blanks(took.size() > 10 ? 0 : 10 - TextWidth(took), ' ');
        const std::string bar = BarOf(row, from, until, kBar);
        text += fmt::format("{}  {}{}  {}", name, blanks, took, style.Paint(HueOfSpan(row), bar));
        const std::string error = Printable(row.span.TextAt("/error"));
        if (!error.empty()) {
            const std::size_t fill = kBar - std::min(kBar, TextWidth(bar));
            text += std::string(fill + 2, ' ') + CutToWidth(error, 60);
        }
        text += '\n';
    }
    return text;
}

Result<int> TraceRun(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"runs", session.Word(0), "spans"})));
    if (!session.style.IsTable() || !session.style.fields.empty()) {
        ShowOne(session, answer.json);
    } else {
        session.output.out += Waterfall(answer.json, session.style);
    }
    return kExitOk;
}

}  // namespace ksana::app
