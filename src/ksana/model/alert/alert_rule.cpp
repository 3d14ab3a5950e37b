#include "ksana/model/alert/alert_rule.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/model/http_url.hpp"

namespace ksana::model {
namespace {

constexpr std::size_t kMaxText = 200;
constexpr std::size_t kMaxSecret = 1'000;
constexpr std::size_t kMaxAddresses = 20;
constexpr std::int32_t kMaxConsecutive = 1'000;
constexpr Duration kMinRemind = std::chrono::minutes(1);
constexpr Duration kMaxDuration = std::chrono::hours(24 * 31);

// Parses "HH:MM" into minutes since midnight; nullopt if it is not a time of day.
std::optional<int> MinutesOf(std::string_view text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool formed = text.size() == 5 && text[2] == ':' && digit(text[0]) && digit(text[1]) &&
                        digit(text[3]) && digit(text[4]);
    if (!formed) return std::nullopt;
    const int hours = (text[0] - '0') * 10 + (text[1] - '0');
    const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
    if (hours > 23 || minutes > 59) return std::nullopt;
    return hours * 60 + minutes;
}

// A coarse check: refuses what cannot be an address and whatever could inject lines into a mail.
bool IsAddress(std::string_view text) {
    const std::size_t at = text.find('@');
    const auto harmless = [](char c) {
        return c > ' ' && c < 0x7f &&
               std::string_view("<>,;\"()[]\\:").find(c) == std::string_view::npos;
    };
    return text.size() <= kMaxText && at != std::string_view::npos && at > 0 &&
           at + 1 < text.size() && text.find('@', at + 1) == std::string_view::npos &&
           std::ranges::all_of(text, harmless);
}

// Collects the problems of one rule.
class RuleCheck {
  public:
    RuleCheck(const AlertRule& rule, std::vector<Problem>& problems)
        : rule_(rule), problems_(problems) {}

    void Run(schedule::ZoneDatabase& zones) {
        if (!IsIdentifier(rule_.id)) Add("/id", fmt::format("is {}", kIdentifierRule));
        Text("/name", rule_.name, kMaxText);
        Condition();
        Text("/scope/job", rule_.scope.job, kMaxText);
        Text("/scope/group", rule_.scope.group, kMaxText);
        Text("/scope/type", rule_.scope.type, kMaxText);
        Text("/scope/tenant", rule_.scope.tenant, kMaxText);
        Channels();
        const Duration remind = rule_.remind_every;
        if (remind != Duration::zero() && (remind < kMinRemind || remind > kMaxDuration)) {
            Add("/remind_every", "must be 0s (never) or 1m to 744h");
        }
        if (rule_.quiet) Quiet(*rule_.quiet, zones);
    }

  private:
    void Add(std::string path, std::string message) {
        problems_.push_back({std::move(path), std::move(message)});
    }
    void Text(const char* path, const std::string& text, std::size_t most) {
        if (text.size() > most) Add(path, fmt::format("is longer than {} bytes", most));
        if (!IsUtf8(text) || text.find('\0') != std::string::npos) Add(path, "is no plain text");
    }

    void Condition() {
        const AlertKind on = rule_.on;
        if (rule_.consecutive < 1 || rule_.consecutive > kMaxConsecutive) {
            Add("/consecutive", fmt::format("must be 1 to {}", kMaxConsecutive));
        }
        if (rule_.consecutive > 1 && on != AlertKind::kFailure) {
            Add("/consecutive", "goes with \"on\": \"failure\" only");
        }
        const bool timed = on == AlertKind::kLate || on == AlertKind::kLong;
        if (rule_.longer_than && !timed) {
            Add("/longer_than", R"(goes with "on": "late" and "long" only)");
        }
        if (rule_.longer_than &&
            (*rule_.longer_than <= Duration::zero() || *rule_.longer_than > kMaxDuration)) {
            Add("/longer_than", "must be more than 0s and at most 744h");
        }
        if (rule_.factor && on != AlertKind::kLong) {
            Add("/factor", R"(goes with "on": "long" only)");
        }
        if (rule_.factor && (*rule_.factor <= 1.0 || *rule_.factor > 1'000.0)) {
            Add("/factor", "must be more than 1 and at most 1000");
        }
        if (timed && !rule_.longer_than && !rule_.factor) {
            Add("/longer_than", on == AlertKind::kLate ? "is missing: how late is too late"
                                                       : "is missing; it, or factor, or both");
        }
    }

    void Channels() {
        if (!rule_.webhook && rule_.email.empty()) {
            Add("", "names nobody to be told: webhook, email or both");
        }
        if (rule_.webhook) {
            const AlertWebhook& webhook = *rule_.webhook;
            if (const auto fault = CheckHttpUrl(webhook.url)) Add("/webhook/url", *fault);
            if (!webhook.access_key.empty() && !IsIdentifier(webhook.access_key)) {
                Add("/webhook/access_key", fmt::format("is {}", kIdentifierRule));
            }
            Text("/webhook/secret", webhook.secret, kMaxSecret);
        }
        if (rule_.email.size() > kMaxAddresses) {
            Add("/email", fmt::format("has more than {} addresses", kMaxAddresses));
        }
        for (std::size_t n = 0; n < rule_.email.size(); ++n) {
            if (!IsAddress(rule_.email[n])) Add(fmt::format("/email/{}", n), "is no address");
        }
    }

    void Quiet(const QuietHours& quiet, schedule::ZoneDatabase& zones) {
        if (const auto zone = zones.Find(quiet.zone); !zone) {
            Add("/quiet/zone", zone.error().Describe());
        }
        if (!MinutesOf(quiet.from)) Add("/quiet/from", "must be a time of the day such as 22:00");
        if (!MinutesOf(quiet.to)) Add("/quiet/to", "must be a time of the day such as 07:00");
        if (quiet.from == quiet.to) Add("/quiet/to", "is the same as from");
    }

    const AlertRule& rule_;
    std::vector<Problem>& problems_;
};

bool HasLabels(const Job& job, const TextMap& labels) {
    return std::ranges::all_of(labels, [&job](const auto& label) {
        const auto found = job.labels.find(label.first);
        return found != job.labels.end() && found->second == label.second;
    });
}

bool ConcernsJob(const AlertScope& scope, const Job* job) {
    if (scope.group.empty() && scope.labels.empty()) return true;
    if (job == nullptr) return false;
    return (scope.group.empty() || scope.group == job->group) && HasLabels(*job, scope.labels);
}

}  // namespace

std::vector<Problem> ValidateAlertRule(const AlertRule& rule, schedule::ZoneDatabase& zones) {
    std::vector<Problem> problems;
    RuleCheck(rule, problems).Run(zones);
    return problems;
}

bool Concerns(const AlertScope& scope, const Run& run, const Job* job) {
    return (scope.job.empty() || scope.job == run.job_id) &&
           (scope.type.empty() || scope.type == run.type) &&
           (scope.tenant.empty() || scope.tenant == run.tenant) && ConcernsJob(scope, job);
}

bool Concerns(const AlertScope& scope, const Job& job) {
    const auto* queue = std::get_if<QueueAction>(&job.action);
    const std::string& type = queue == nullptr ? std::string() : queue->type;
    return (scope.job.empty() || scope.job == job.id) &&
           (scope.type.empty() || scope.type == type) &&
           (scope.tenant.empty() || scope.tenant == job.tenant) && ConcernsJob(scope, &job);
}

bool ConcernsTasks(const AlertScope& scope, std::string_view type) {
    return scope.job.empty() && (scope.type.empty() || scope.type == type) &&
           ConcernsJob(scope, nullptr);
}

bool IsQuiet(const QuietHours& quiet, TimePoint now, schedule::ZoneDatabase& zones) {
    const auto zone = zones.Find(quiet.zone);
    const auto from = MinutesOf(quiet.from);
    const auto to = MinutesOf(quiet.to);
    if (!zone || !from || !to) return false;
    const auto utc = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    const std::int64_t local = utc + (*zone)->OffsetAt(utc);
    const std::int64_t day = local >= 0 ? local / 86'400 : (local - 86'399) / 86'400;
    const auto minute = static_cast<int>((local - day * 86'400) / 60);
    // 1970-01-01 was a Thursday.
    const auto day_of = [&](std::int64_t number) {
        return static_cast<Weekday>(((number + 3) % 7 + 7) % 7);
    };
    const auto counts = [&](std::int64_t number) {
        return quiet.days.empty() ||
               std::ranges::find(quiet.days, day_of(number)) != quiet.days.end();
    };
    if (*from < *to) return minute >= *from && minute < *to && counts(day);
    return (minute >= *from && counts(day)) || (minute < *to && counts(day - 1));
}

}  // namespace ksana::model
