#include "ksana/http_client/answer_collector.hpp"

#include <algorithm>

namespace ksana::http_client {
namespace {

// Headers to reserve room for; most answers have no more.
constexpr std::size_t kUsualHeaders = 8;

// "HTTP/1.1 100 Continue"
bool IsInterim(std::string_view status_line) {
    const std::size_t blank = status_line.find(' ');
    return blank != std::string_view::npos && status_line.substr(blank).starts_with(" 1");
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

void AnswerCollector::Begin() {
    body_bytes_ = 0;
    header_bytes_ = 0;
    interim_ = false;
    head_ended_ = false;
    stopped_reading_ = false;
    too_many_headers_ = false;
}

bool AnswerCollector::AllowsLine(std::size_t bytes) {
    too_many_headers_ = header_bytes_ + bytes > request_.max_header_bytes;
    return !too_many_headers_;
}

bool AnswerCollector::TakeHeaderLine(std::string_view line) {
    if (!AllowsLine(line.size())) return false;
    header_bytes_ += line.size();
    // A status line: the headers so far belong to an interim answer.
    if (line.starts_with("HTTP/")) {
        answer_.headers.clear();
        interim_ = IsInterim(line);
        return true;
    }
    if (Trimmed(line).empty()) head_ended_ = !interim_;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return true;
    if (answer_.headers.empty()) answer_.headers.reserve(kUsualHeaders);
    Header& header = answer_.headers.emplace_back();
    header.name = Trimmed(line.substr(0, colon));
    header.value = Trimmed(line.substr(colon + 1));
    return true;
}

bool AnswerCollector::TakeBody(std::string_view bytes) {
    body_bytes_ += bytes.size();
    const std::size_t room = request_.max_kept - std::min(request_.max_kept, answer_.body.size());
    answer_.body.append(bytes.substr(0, room));
    if (bytes.size() > room) answer_.body_truncated = true;
    stopped_reading_ = body_bytes_ > request_.max_read;
    return !stopped_reading_;
}

}  // namespace ksana::http_client
