#include "ksana/exec/call_values.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ksana/base/error/check.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::exec {
namespace {

TemplateValue Text(const std::string& text) { return {text, codec::QuoteJson(text)}; }

TemplateValue Number(std::int64_t number) {
    const std::string text = std::to_string(number);
    return {text, text};
}

// Says what the hash is for, so that it equals no other hash of an exec_id.
constexpr std::string_view kAttemptPurpose = "ksana attempt ";
constexpr std::size_t kAttemptIdBytes = 16;

}  // namespace

std::string AttemptIdOf(const model::Run& run) {
    const std::string text = std::string(kAttemptPurpose) + run.status.exec_id;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    KSANA_CHECK(
        EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1,
        "SHA-256 failed");
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string id;
    id.reserve(2 * kAttemptIdBytes);
    for (std::size_t n = 0; n < kAttemptIdBytes; ++n) {
        id += kHex[digest.at(n) >> 4U];
        id += kHex[digest.at(n) & 0xFU];
    }
    return id;
}

Result<CallValues> CallValues::Make(const engine::ActiveAttempt& attempt) {
    CallValues values(attempt);
    if (attempt.run.payload.empty()) return values;
    auto members = codec::JsonMembers(attempt.run.payload);
    if (!members) return std::move(members).error().WithContext("the run's parameters");
    values.parameters_ = std::move(members).value();
    // For the search: a template may have as many placeholders as a payload has members.
    std::ranges::stable_sort(values.parameters_, {}, &codec::JsonMember::name);
    return values;
}

std::optional<TemplateValue> CallValues::Find(std::string_view name) const {
    if (auto value = FindBuiltIn(name)) return value;
    constexpr std::string_view kPrefix = "params.";
    if (name.starts_with(kPrefix)) return FindParameter(name.substr(kPrefix.size()));
    return FindParameter(name);
}

std::optional<TemplateValue> CallValues::FindBuiltIn(std::string_view name) const {
    const model::Run& run = attempt_.run;
    if (name == "job_id") return Text(run.job_id);
    if (name == "job_name") return Text(attempt_.job ? attempt_.job->name : "");
    if (name == "run_id") return Text(run.id.ToString());
    if (name == "exec_id") return Text(AttemptIdOf(run));
    if (name == "tenant") return Text(run.tenant);
    if (name == "attempt") return Number(run.status.attempt);
    if (name == "fence") return Number(run.status.fence);
    if (name == "scheduled_at") return Text(FormatTime(run.nominal_at.value_or(run.created_at)));
    if (name == "triggered_at") {
        return Text(FormatTime(run.status.started_at.value_or(run.created_at)));
    }
    if (name == "params") {
        const std::string all = run.payload.empty() ? "{}" : run.payload;
        return TemplateValue{all, all};
    }
    return std::nullopt;
}

std::optional<TemplateValue> CallValues::FindParameter(std::string_view name) const {
    const auto found = std::ranges::lower_bound(parameters_, name, {}, &codec::JsonMember::name);
    if (found == parameters_.end() || found->name != name) return std::nullopt;
    return TemplateValue{found->text, found->json};
}

namespace {

constexpr std::string_view kMarker = "<filled-by-service>";

bool IsFilled(std::string_view key) {
    constexpr std::array<std::string_view, 6> kKeys = {"job_id",       "run_id",       "exec_id",
                                                       "scheduled_at", "triggered_at", "attempt"};
    return std::ranges::find(kKeys, key) != kKeys.end();
}

// Decodes the \u escapes of a raw JSON string. Returns nothing for other escapes and non-ASCII
// codes, which neither keys nor the marker contain. Many JSON writers escape < and > as \u003c and
// \u003e.
std::optional<std::string> Unescaped(std::string_view raw) {
    std::string plain;
    while (!raw.empty()) {
        if (raw.front() != '\\') {
            plain += raw.front();
            raw.remove_prefix(1);
            continue;
        }
        unsigned code = 0;
        const bool is_code =
            raw.size() >= 6 && raw[1] == 'u' &&
            std::from_chars(raw.data() + 2, raw.data() + 6, code, 16).ptr == raw.data() + 6;
        if (!is_code || code >= 0x80) return std::nullopt;
        plain += static_cast<char>(code);
        raw.remove_prefix(6);
    }
    return plain;
}

// Reads JSON from left to right, only as far as needed: strings, and the character after them.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    // Moves past the next string and returns its raw content; nothing at the end.
    std::optional<std::string_view> NextString() {
        at_ = text_.find('"', at_);
        return at_ == std::string_view::npos ? std::nullopt : StringHere();
    }

    // Moves past the string that starts here and returns its raw content; nothing if none starts
    // here.
    std::optional<std::string_view> StringHere() {
        if (at_ >= text_.size() || text_[at_] != '"') return std::nullopt;
        const std::size_t start = at_ + 1;
        std::size_t end = start;
        while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size()) {
            at_ = text_.size();
            return std::nullopt;
        }
        at_ = end + 1;
        return text_.substr(start, end - start);
    }

    bool Skip(char c) {
        SkipBlanks();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        SkipBlanks();
        return true;
    }

    std::size_t at() const { return at_; }

  private:
    void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string FillServiceValues(std::string body, const TemplateLookup& lookup) {
    if (body.find("filled-by-service") == std::string::npos) return body;
    std::string filled;
    std::size_t copied = 0;
    Scanner scanner(body);
    while (const auto key = scanner.NextString()) {
        if (!scanner.Skip(':')) continue;
        const std::size_t start = scanner.at();
        const auto value = scanner.StringHere();
        if (!value || Unescaped(*value) != kMarker) continue;
        const auto name = Unescaped(*key);
        if (!name || !IsFilled(*name)) continue;
        const auto known = lookup(*name);
        if (!known) continue;
        filled.append(body, copied, start - copied);
        filled += known->json;
        copied = scanner.at();
    }
    filled.append(body, copied);
    return filled;
}

}  // namespace ksana::exec
