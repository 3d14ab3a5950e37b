#include "ksana/exec/command/command_output.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "ksana/base/text/json_output.hpp"
#include "ksana/exec/answer_outcome.hpp"
#include "ksana/model/run/attempt_log.hpp"

namespace ksana::exec {
namespace {

constexpr std::size_t kMaxLine = 4 << 10;  // longer lines are cut
constexpr std::size_t kMaxNote = 500;
constexpr std::size_t kMoreRoom = 8 << 10;
constexpr std::string_view kProgress = "::progress ";

std::string QuotedLine(std::string_view line) {
    JsonOutput json;
    json.Text(HarmlessText(line, kMaxLine));
    return json.Take();
}

std::string_view WithoutBlanks(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

void CommandOutput::Add(std::string_view bytes) {
    total_ += bytes.size();
    Keep(bytes);
    while (!bytes.empty()) {
        if (room_ == 0) return SkipLines(bytes);
        const std::size_t end = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, end);
        if (end == std::string_view::npos || !partial_.empty()) {
            partial_ += piece.substr(0, kMaxLine - std::min(kMaxLine, partial_.size()));
        }
        if (end == std::string_view::npos) return;
        TakeLine(partial_.empty() ? piece : std::string_view(partial_));
        partial_.clear();
        bytes.remove_prefix(end + 1);
    }
}

// There is no room for more log lines before the next call of TakeNews: looks for progress only.
void CommandOutput::SkipLines(std::string_view bytes) {
    unlogged_ += bytes.size();
    const std::size_t last = bytes.rfind('\n');
    if (last == std::string_view::npos) {
        partial_ += bytes.substr(0, kMaxLine - std::min(kMaxLine, partial_.size()));
        return;
    }
    std::string_view lines = bytes.substr(0, last);
    if (partial_.starts_with(kProgress)) {
        TakeProgress(partial_.append(lines.substr(0, std::min(lines.find('\n'), kMaxLine))));
    }
    partial_.assign(bytes.substr(last + 1, kMaxLine));
    for (bool begins = true;;) {
        const void* const found =
            memmem(lines.data(), lines.size(), kProgress.data(), kProgress.size());
        if (found == nullptr) return;
        const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - lines.data());
        begins = at == 0 ? begins : lines[at - 1] == '\n';
        lines.remove_prefix(at);
        if (begins) TakeProgress(lines.substr(0, std::min(lines.find('\n'), kMaxLine)));
        lines.remove_prefix(kProgress.size());
        begins = false;
    }
}

void CommandOutput::End() {
    if (!partial_.empty()) TakeLine(partial_);
    partial_.clear();
}

void CommandOutput::Keep(std::string_view bytes) {
    const std::size_t first = std::min(bytes.size(), half_ - head_.size());
    head_ += bytes.substr(0, first);
    bytes.remove_prefix(first);
    if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
    const std::size_t grow = std::min(bytes.size(), half_ - tail_.size());
    tail_ += bytes.substr(0, grow);
    bytes.remove_prefix(grow);
    while (!bytes.empty()) {
        const std::size_t piece = std::min(bytes.size(), half_ - oldest_);
        std::memcpy(tail_.data() + oldest_, bytes.data(), piece);
        oldest_ = (oldest_ + piece) % half_;
        bytes.remove_prefix(piece);
    }
}

void CommandOutput::TakeLine(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (TakeProgress(line)) return;
    std::string quoted = QuotedLine(line);
    room_ -= std::min(room_, quoted.size() + 1);
    engine::Append(news_, {.log = std::move(quoted)});
}

// Returns whether the line is one of progress.
bool CommandOutput::TakeProgress(std::string_view line) {
    if (!line.starts_with(kProgress)) return false;
    line.remove_prefix(kProgress.size());
    std::int32_t percent = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), percent);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (line.starts_with('%')) line.remove_prefix(1);
    const bool ends = line.empty() || line.front() == ' ' || line.front() == '\r';
    if (error != std::errc() || !ends || percent < 0 || percent > 100) return false;
    engine::Append(news_,
                   {.progress = percent, .note = HarmlessText(WithoutBlanks(line), kMaxNote)});
    return true;
}

engine::AttemptNews CommandOutput::TakeNews() {
    if (unlogged_ > 0) {
        engine::Append(news_, {.log = QuotedLine(fmt::format(
                                   "[{} bytes of output came too fast to be logged]", unlogged_))});
        unlogged_ = 0;
    }
    room_ = std::min(room_ + kMoreRoom, kMaxRoom);
    return std::exchange(news_, {});
}

std::string CommandOutput::Ring() const { return tail_.substr(oldest_) + tail_.substr(0, oldest_); }

std::uint64_t CommandOutput::left_out() const { return total_ - head_.size() - tail_.size(); }

std::string CommandOutput::Text() const {
    std::string text = head_;
    if (left_out() > 0) text += fmt::format("\n[{} bytes left out]\n", left_out());
    text += Ring();
    return HarmlessText(text, 3 * text.size());
}

std::string CommandOutput::Tail(std::size_t most) const {
    const std::string all = left_out() > 0 ? Ring() : head_ + Ring();
    std::string_view tail = WithoutBlanks(all);
    if (tail.size() > most) tail.remove_prefix(tail.size() - most);
    return HarmlessText(tail, 3 * tail.size());
}

}  // namespace ksana::exec
