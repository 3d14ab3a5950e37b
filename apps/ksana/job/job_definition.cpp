#include "apps/ksana/job/job_definition.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "apps/ksana/job/command_words.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using codec::Json;

// An option whose value becomes a member unchanged.
struct TextFlag {
    std::string_view option;
    std::string_view pointer;
};

constexpr std::array<TextFlag, 22> kTextFlags = {{
    {"name", "/name"},
    {"group", "/group"},
    {"owner", "/owner"},
    {"description", "/description"},
    {"url", "/http/url"},
    {"method", "/http/method"},
    {"user", "/command/user"},
    {"cwd", "/command/working_directory"},
    {"every", "/schedule/every"},
    {"cron", "/schedule/cron"},
    {"at", "/schedule/run_at"},
    {"tz", "/schedule/zone"},
    {"calendar", "/schedule/calendar"},
    {"jitter", "/schedule/jitter"},
    {"overlap", "/overlap"},
    {"misfire", "/misfire/policy"},
    {"retry-strategy", "/retry/strategy"},
    {"retry-interval", "/retry/interval"},
    {"run-timeout", "/timeout"},
    {"on", "/schedule/on"},
    {"join", "/schedule/join"},
    {"max-wait", "/max_wait"},
}};

// The options that decide the kind of a schedule.
constexpr std::array<TextFlag, 4> kKinds = {
    {{"every", "every"}, {"cron", "cron"}, {"at", "once"}, {"after", "after"}}};

Result<Json> WithSchedule(Json job, const Arguments& arguments) {
    std::optional<TextFlag> kind;
    for (const TextFlag& one : kKinds) {
        if (!arguments.Given(one.option)) continue;
        if (kind) {
            return Error(Code::kInvalidArgument,
                         fmt::format("--{} and --{} cannot both be given: a job has one schedule",
                                     kind->option, one.option));
        }
        kind = one;
    }
    // The option replaces a schedule of another kind as a whole.
    if (kind && job.TextAt("/schedule/kind") != kind->pointer) {
        job = job.With("/schedule", Json::Object()).With("/schedule/kind", Json::Of(kind->pointer));
    }
    return job;
}

Result<Json> WithNumbers(Json job, const Arguments& arguments) {
    constexpr int kMostRetries = 1'000'000;
    if (arguments.Given("retry")) {
        KSANA_TRY(const int retries, arguments.GetNumber("retry", 0, kMostRetries));
        job = job.With("/retry/max_retries", Json::Of(std::int64_t{retries}));
        if (!job.Has("/retry/strategy")) {
            job = job.With("/retry/strategy", Json::Of(retries == 0 ? "none" : "exponential"));
        }
    }
    if (arguments.Given("priority")) {
        KSANA_TRY(const int priority, arguments.GetNumber("priority", 0, 9));
        job = job.With("/priority", Json::Of(std::int64_t{priority}));
    }
    return job;
}

// A line for --shell stays as it is, other lines are split into words.
Result<Json> WithCommand(Json job, const Arguments& arguments) {
    if (arguments.Has("shell") && !arguments.Given("command")) {
        return Error(Code::kInvalidArgument, "--shell needs the line of --command");
    }
    if (!arguments.Given("command")) return job;
    const std::string& line = arguments.Get("command");
    if (!IsUtf8(line)) return Error(Code::kInvalidArgument, "--command is not UTF-8");
    std::vector<Json> words;
    if (arguments.Has("shell")) {
        job = job.With("/command/shell", Json::Of(true));
        words.push_back(Json::Of(line));
    } else {
        auto split = SplitWords(line);
        if (!split) return std::move(split).error().WithContext("--command");
        for (const std::string& word : *split) words.push_back(Json::Of(word));
    }
    return job.With("/command/argv", Json::Array(words));
}

Result<Json> WithPairs(Json job, const Arguments& arguments) {
    for (const std::string& label : arguments.All("label")) {
        KSANA_TRY(const auto pair, PairOf("label", label, '='));
        job = job.With("/labels" + PointerStep(pair.first), Json::Of(pair.second));
    }
    for (const std::string& header : arguments.All("header")) {
        KSANA_TRY(auto pair, PairOf("header", header, ':'));
        pair.second.erase(0, pair.second.find_first_not_of(' '));
        job = job.With("/http/headers" + PointerStep(pair.first), Json::Of(pair.second));
    }
    for (const std::string& variable : arguments.All("env")) {
        KSANA_TRY(const auto pair, PairOf("env", variable, '='));
        job = job.With("/command/environment" + PointerStep(pair.first), Json::Of(pair.second));
    }
    return job;
}

// Returns the ids of a list such as "a,b".
Result<std::vector<std::string>> IdsOf(std::string_view option, const std::string& text) {
    std::vector<std::string> ids;
    std::string_view rest = text;
    for (;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view id = rest.substr(0, comma);
        if (id.empty() || !IsUtf8(id)) {
            return Error(Code::kInvalidArgument,
                         fmt::format("--{} \"{}\" is not a list of job ids like a,b", option,
                                     Excerpt(Printable(text), 80)));
        }
        ids.emplace_back(id);
        if (comma == std::string_view::npos) return ids;
        rest.remove_prefix(comma + 1);
    }
}

Result<Json> WithOthers(Json job, const Arguments& arguments) {
    if (arguments.Given("after")) {
        KSANA_TRY(const auto ids, IdsOf("after", arguments.Get("after")));
        std::vector<Json> jobs;
        for (const std::string& id : ids) jobs.push_back(Json::Of(id));
        job = job.With("/schedule/jobs", Json::Array(jobs));
    }
    if (arguments.Given("depends-on")) {
        KSANA_TRY(const auto ids, IdsOf("depends-on", arguments.Get("depends-on")));
        std::vector<Json> jobs;
        for (const std::string& id : ids) {
            Json one = Json::Object().With("/job", Json::Of(id));
            if (arguments.Given("on-failure")) {
                one = one.With("/on_failure", Json::Of(arguments.Get("on-failure")));
            }
            jobs.push_back(std::move(one));
        }
        job = job.With("/depends_on", Json::Array(jobs));
    }
    return job;
}

Result<std::string> BodyOf(const std::string& text, const Process& process) {
    if (!text.starts_with('@')) return text;
    return ReadTextFile(text.substr(1), process);
}

Result<Json> Base(const Arguments& arguments, const Process& process) {
    const std::string& file = arguments.Get("file");
    if (file.empty()) return Json::Object();
    KSANA_TRY(Json job, ReadDataFile(file, process));
    if (!job.IsObject()) {
        return Error(Code::kInvalidArgument, fmt::format("{} does not hold a job", file));
    }
    if (job.Has("/jobs")) {
        return Error(Code::kInvalidArgument,
                     fmt::format("{} holds a list of jobs: use ksana apply -f {}", file, file));
    }
    return job;
}

// The type that the given members mean.
Json WithType(Json job) {
    if (job.Has("/type")) return job;
    for (const std::string_view type : {"http", "command"}) {
        if (job.Has("/" + std::string(type))) return job.With("/type", Json::Of(type));
    }
    return job;
}

// A job needs a name: uses the id, the URL or the command if none is given.
Json WithName(Json job) {
    if (!job.TextAt("/name").empty()) return job;
    const std::string id = job.TextAt("/id");
    const std::string name = id.empty() ? ActionText(job) : id;
    constexpr std::size_t kMostName = 200;
    return name.empty() ? job : job.With("/name", Json::Of(CutText(Printable(name), kMostName)));
}

}  // namespace

std::vector<OptionSpec> DefinitionOptions() {
    return {
        {"file", 'f', "FILE", "definition in JSON or TOML (-: standard input); flags go over it",
         ""},
        {"name", '\0', "TEXT", "what people call it (default: the id, else what it does)", ""},
        {"url", '\0', "URL", "what it calls", ""},
        {"method", '\0', "METHOD", "how it calls it (default: GET)", ""},
        {"header", 'H', "NAME: VALUE", "header of the call", "", {}, true},
        {"body", 'd', "TEXT", "body of the call; @FILE: what stands in a file", ""},
        {"command", '\0', "LINE", "program that it runs, with its arguments", ""},
        {"shell", '\0', "", "LINE is for /bin/sh", ""},
        {"user", '\0', "NAME", "user as whom the program runs", ""},
        {"cwd", '\0', "FOLDER", "where the program runs", ""},
        {"env", '\0', "NAME=VALUE", "variable of the program", "", {}, true},
        {"every", '\0', "DURATION", "fires every so often, like 5m", ""},
        {"cron", '\0', "EXPR", "fires by a cron expression", ""},
        {"at", '\0', "TIME", "fires once, like 2026-01-01T00:00:00Z", ""},
        {"after", '\0', "JOBS", "fires when the runs of these jobs end, like a,b", ""},
        {"on", '\0', "END", "of --after: which ends count", "", {"success", "failure", "any"}},
        {"join",
         '\0',
         "HOW",
         "of --after: one fire when all have ended, or one for each end",
         "",
         {"all", "each"}},
        {"depends-on", '\0', "JOBS", "jobs whose latest run must have succeeded, like a,b", ""},
        {"on-failure",
         '\0',
         "WHAT",
         "of --depends-on: what a fire does when it did not succeed",
         "",
         {"skip", "wait", "run"}},
        {"max-wait", '\0', "DURATION", "how long a fire waits for --depends-on", ""},
        {"tz", '\0', "ZONE", "time zone of the schedule (default: UTC)", ""},
        {"calendar", '\0', "NAME", "days on which it does not fire", ""},
        {"jitter", '\0', "DURATION", "spreads its starts over this time", ""},
        {"group", '\0', "NAME", "group", ""},
        {"owner", '\0', "NAME", "who answers for it", ""},
        {"description", '\0', "TEXT", "what it is for", ""},
        {"label", 'l', "NAME=VALUE", "label", "", {}, true},
        {"overlap",
         '\0',
         "POLICY",
         "what a fire does while a run is not over",
         "",
         {"skip", "allow", "queue_one", "queue_all", "cancel_other"}},
        {"misfire",
         '\0',
         "POLICY",
         "what becomes of fires that were missed",
         "",
         {"skip", "run_latest", "run_all"}},
        {"retry", '\0', "N", "how often a failed run is tried again", ""},
        {"retry-interval", '\0', "DURATION", "wait before the first retry", ""},
        {"retry-strategy",
         '\0',
         "NAME",
         "how the waits grow",
         "",
         {"none", "fixed", "exponential"}},
        {"run-timeout", '\0', "DURATION", "longest time of an attempt", ""},
        {"priority", '\0', "N", "0 to 9, the higher the sooner", ""},
        {"paused", '\0', "", "made, but not fired before it is resumed", ""},
    };
}

Result<Json> DefinitionOf(const Arguments& arguments, const Process& process) {
    KSANA_TRY(Json job, Base(arguments, process));
    if (!arguments.words().empty()) job = job.With("/id", Json::Of(arguments.words()[0]));
    KSANA_TRY(job, WithSchedule(std::move(job), arguments));
    for (const TextFlag& flag : kTextFlags) {
        if (!arguments.Given(flag.option)) continue;
        if (!IsUtf8(arguments.Get(flag.option))) {
            return Error(Code::kInvalidArgument, fmt::format("--{} is not UTF-8", flag.option));
        }
        job = job.With(flag.pointer, Json::Of(arguments.Get(flag.option)));
    }
    if (arguments.Given("body")) {
        KSANA_TRY(const std::string body, BodyOf(arguments.Get("body"), process));
        if (!IsUtf8(body)) return Error(Code::kInvalidArgument, "--body is not UTF-8");
        job = job.With("/http/body", Json::Of(body));
    }
    KSANA_TRY(job, WithCommand(std::move(job), arguments));
    KSANA_TRY(job, WithPairs(std::move(job), arguments));
    KSANA_TRY(job, WithNumbers(std::move(job), arguments));
    KSANA_TRY(job, WithOthers(std::move(job), arguments));
    if (arguments.Has("paused")) job = job.With("/enabled", Json::Of(false));
    return WithName(WithType(std::move(job)));
}

std::string ActionText(const Json& job) {
    if (job.Has("/http")) return job.TextAt("/http/url");
    if (job.Has("/handler")) return job.TextAt("/handler/name");
    if (job.Has("/queue")) return job.TextAt("/queue/type");
    std::string text;
    for (const Json& word : job.At("/command/argv").Items()) {
        text += (text.empty() ? "" : " ") + word.Text();
    }
    return text;
}

Json DefinitionPart(const Json& job) {
    Json definition = job;
    for (const std::string_view kept :
         {"/version", "/created_at", "/updated_at", "/planned_until", "/next_run_at",
          "/last_run_at", "/last_state", "/last_error", "/total_runs", "/consecutive_failures",
          "/dependants"}) {
        definition = definition.Without(kept);
    }
    return definition;
}

Result<std::pair<std::string, std::string>> PairOf(std::string_view option, const std::string& text,
                                                   char separator) {
    const std::size_t at = text.find(separator);
    if (at == std::string::npos || at == 0 || !IsUtf8(text)) {
        return Error(Code::kInvalidArgument, fmt::format("--{} \"{}\" is not NAME{}VALUE", option,
                                                         Excerpt(Printable(text), 80), separator));
    }
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace ksana::app
