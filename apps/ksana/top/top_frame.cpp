#include "apps/ksana/top/top_frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/ksana/job/job_command.hpp"
#include "apps/ksana/run/run_watch.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using codec::Json;

constexpr std::string_view kUnknown = "-";
// A smaller terminal shows the upper left part of a picture of this size.
constexpr int kFewestColumns = 30;
constexpr int kFewestRows = 8;

std::string Count(std::optional<double> value) {
    return value ? fmt::format("{:.0f}", *value) : std::string(kUnknown);
}

// Returns the rate per second since `before`. A counter that decreased belongs to a restarted
// server and counts as 0.
std::string Rate(const TopData& data, const TopData* before, std::string_view name,
                 std::string_view label = "") {
    if (before == nullptr || !data.metrics || !before->metrics) return std::string(kUnknown);
    const auto now = data.metrics->Sum(name, label);
    const auto then = before->metrics->Sum(name, label);
    const double seconds = std::chrono::duration<double>(data.steady - before->steady).count();
    if (!now || !then || seconds <= 0) return std::string(kUnknown);
    return fmt::format("{:.1f}", std::max(0.0, *now - *then) / seconds);
}

std::string Lateness(const TopData& data, const TopData* before, double share) {
    if (!data.metrics) return std::string(kUnknown);
    const MetricsText none;
    const bool since = before != nullptr && before->metrics;
    const auto seconds = data.metrics->Quantile("ksana_start_lateness_seconds", share,
                                                since ? *before->metrics : none);
    if (!seconds) return std::string(kUnknown);
    if (std::isinf(*seconds)) return "very";
    const auto micros = static_cast<std::int64_t>(std::llround(*seconds * 1e6));
    return "<" + FormatDuration(Duration(micros));
}

// Formats "name value" pairs side by side, as many as fit.
std::string Facts(const std::vector<std::pair<std::string_view, Cell>>& facts, const Style& style,
                  std::size_t columns) {
    std::string line;
    std::size_t width = 0;
    for (const auto& [name, cell] : facts) {
        const std::size_t more = name.size() + 1 + TextWidth(cell.text) + (line.empty() ? 0 : 3);
        if (width + more > columns) break;
        width += more;
        if (!line.empty()) line += "   ";
        line +=
            fmt::format("{} {}", style.Paint(Hue::kFaint, name), style.Paint(cell.hue, cell.text));
    }
    return line;
}

// Builds the lines of TopFrame. Lives on its stack.
class Frame {
  public:
    Frame(const TopData& data, const TopData* before, Style style, const TerminalSize& size)
        : data_(data),
          before_(before),
          style_(std::move(style)),
          columns_(static_cast<std::size_t>(std::max(size.columns, kFewestColumns))),
          rows_(static_cast<std::size_t>(std::max(size.rows, kFewestRows))) {
        style_.columns = columns_;
        style_.now = data.at;
    }

    std::vector<std::string> Lines() {
        Head();
        Numbers();
        Lists();
        if (lines_.size() > rows_) lines_.resize(rows_);
        return std::move(lines_);
    }

  private:
    void Head() {
        const std::string left =
            fmt::format("ksana {}  {}", Printable(data_.version), Printable(data_.server));
        const std::string state = data_.ready ? "ok" : "not ok";
        const std::string when = FormatTime(std::chrono::floor<std::chrono::seconds>(data_.at));
        const std::size_t room = columns_ - std::min(columns_, when.size() + state.size() + 4);
        const std::string cut = CutToWidth(left, room);
        std::string line = style_.Paint(Hue::kHead, cut) + "  " + style_.Paint(HueOf(state), state);
        const std::size_t used = TextWidth(cut) + 2 + state.size();
        line.append(columns_ - std::min(columns_, used + when.size()), ' ');
        lines_.push_back(line + when);
        if (!data_.ready) {
            lines_.push_back(
                style_.Paint(Hue::kBad, CutToWidth(Printable(data_.health), columns_)));
        }
    }

    std::optional<double> Sum(std::string_view name, std::string_view label = "") const {
        return data_.metrics ? data_.metrics->Sum(name, label) : std::nullopt;
    }

    // Returns the number of waiting runs in a state. The server omits states without runs, so a
    // missing series means 0.
    std::optional<double> Waiting(std::string_view label) const {
        if (!data_.metrics) return std::nullopt;
        return data_.metrics->Sum("ksana_runs_waiting", label).value_or(0);
    }

    void Numbers() {
        constexpr std::string_view kFinished = "ksana_runs_finished_total";
        const auto failed = Sum(kFinished, "state=\"failed\"");
        const std::string fail_rate = Rate(data_, before_, kFinished, "state=\"failed\"");
        const bool failing = fail_rate != kUnknown && fail_rate != "0.0";
        lines_.push_back(
            Facts({{"fires/s", {Rate(data_, before_, "ksana_fires_total")}},
                   {"starts/s", {Rate(data_, before_, "ksana_attempts_started_total")}},
                   {"ends/s", {Rate(data_, before_, kFinished)}},
                   {"failures/s", {fail_rate, failing ? Hue::kBad : Hue::kNone}},
                   {"fires", {Count(Sum("ksana_fires_total"))}},
                   {"failed", {Count(failed)}}},
                  style_, columns_));
        const auto held = Waiting("state=\"held\"");
        lines_.push_back(
            Facts({{"running", {Count(Sum("ksana_attempts_under_way")), Hue::kBusy}},
                   {"queued", {Count(Waiting("state=\"queued\""))}},
                   {"scheduled", {Count(Waiting("state=\"scheduled\""))}},
                   {"held", {Count(held), held.value_or(0) > 0 ? Hue::kWarn : Hue::kNone}},
                   {"late p50", {Lateness(data_, before_, 0.5)}},
                   {"p99", {Lateness(data_, before_, 0.99)}}},
                  style_, columns_));
    }

    void Lists() {
        using Kind = Column::Kind;
        static const std::array<Column, 4> next = {{
            {.title = "JOB", .pointer = "/id"},
            {.title = "SCHEDULE", .pointer = "", .make = ScheduleText},
            {.title = "NEXT RUN", .pointer = "/next_run_at", .kind = Kind::kTime},
            {.title = "LAST", .pointer = "/last_state", .kind = Kind::kState},
        }};
        static const std::array<Column, 4> running = {{
            {.title = "JOB", .pointer = "/job_id"},
            {.title = "RUN", .pointer = "/id"},
            {.title = "ATTEMPT", .pointer = "/attempt"},
            {.title = "FOR", .pointer = "", .make = TookText},
        }};
        static const std::array<Column, 4> failures = {{
            {.title = "JOB", .pointer = "/job_id"},
            {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
            {.title = "ENDED", .pointer = "/finished_at", .kind = Kind::kTime},
            {.title = "ERROR", .pointer = "/last_error"},
        }};
        const std::vector<std::size_t> most =
            Shares({data_.next.size(), data_.running.size(), data_.failures.size()});
        List("Next fires", next, data_.next, most[0]);
        List("Running", running, data_.running, most[1]);
        List("Last failures", failures, data_.failures, most[2]);
    }

    // Returns how many rows each list gets: one row in turn to each list that has more items.
    std::vector<std::size_t> Shares(const std::vector<std::size_t>& wanted) const {
        std::size_t left = rows_ - std::min(rows_, lines_.size());
        for (const std::size_t want : wanted) {
            // Each list has a blank line and a name, and a title row if it has items.
            left -= std::min<std::size_t>(left, want == 0 ? 2 : 3);
        }
        std::vector<std::size_t> shares(wanted.size(), 0);
        for (bool given = true; given && left > 0;) {
            given = false;
            for (std::size_t i = 0; i < wanted.size() && left > 0; ++i) {
                if (shares[i] == wanted[i]) continue;
                ++shares[i];
                --left;
                given = true;
            }
        }
        return shares;
    }

    void List(std::string_view name, std::span<const Column> columns,
              const std::vector<Json>& items, std::size_t most) {
        lines_.emplace_back();
        if (items.empty() || most == 0) {
            lines_.push_back(fmt::format("{}: {}", name, items.empty() ? "none" : "…"));
            return;
        }
        lines_.push_back(style_.Paint(Hue::kHead, name));
        const std::vector<Json> shown(
            items.begin(),
            items.begin() + static_cast<std::ptrdiff_t>(std::min(most, items.size())));
        std::string_view text;
        const std::string table = TableOf(columns, shown, style_).Text(style_, true);
        for (text = table; !text.empty();) {
            const std::string_view line = text.substr(0, text.find('\n'));
            lines_.emplace_back(line);
            text.remove_prefix(line.size() + 1);
        }
    }

    const TopData& data_;
    const TopData* before_;
    Style style_;
    const std::size_t columns_;
    const std::size_t rows_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> TopFrame(const TopData& data, const TopData* before, const Style& style,
                                  const TerminalSize& size) {
    return Frame(data, before, style, size).Lines();
}

}  // namespace ksana::app
