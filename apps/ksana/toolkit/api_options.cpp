#include "apps/ksana/toolkit/api_options.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time/time_text.hpp"
#include "ksana/client/api_list.hpp"
#include "ksana/server/settings/token_file.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:7100";

Result<std::string> PlainToken(std::string token) {
    const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
    if (std::all_of(token.begin(), token.end(), visible)) return token;
    return Error(Code::kInvalidArgument,
                 "KSANA_TOKEN holds something else than printable characters without blanks");
}

}  // namespace

std::vector<OptionSpec> ApiOptions() {
    return {
        {"server", '\0', "URL", "which server; else KSANA_SERVER, else http://127.0.0.1:7100", ""},
        {"token-file", '\0', "FILE", "file with the token; else KSANA_TOKEN_FILE, else KSANA_TOKEN",
         ""},
        {"ca-file", '\0', "FILE", "certificates to trust, in PEM, instead of the system's", ""},
        {"timeout", '\0', "DURATION", "longest wait for an answer", "30s"},
        {"output",
         'o',
         "FORMAT",
         "how it is shown",
         "table",
         {"table", "wide", "json", "jsonl", "name"}},
        {"fields", '\0', "A,B", "only these members, like id,schedule.cron", ""},
        {"time-format",
         '\0',
         "FORMAT",
         "how times are shown (default: relative on a terminal, else iso)",
         "",
         {"relative", "iso", "raw"}},
        {"no-color", '\0', "", "no colours, whatever the terminal can do", ""},
        {"yes", 'y', "", "does not ask", ""},
    };
}

std::string VariableOf(const Process& process, const std::string& name) {
    const auto found = process.environment.find(name);
    return found == process.environment.end() ? "" : found->second;
}

Result<std::string> TokenOf(const Arguments& arguments, const Process& process) {
    std::string file = arguments.Get("token-file");
    std::string_view source = "--token-file";
    if (file.empty()) {
        file = VariableOf(process, "KSANA_TOKEN_FILE");
        source = "KSANA_TOKEN_FILE";
    }
    if (file.empty()) return PlainToken(VariableOf(process, "KSANA_TOKEN"));
    auto token = server::ReadTokenFile(file);
    if (!token) return std::move(token).error().WithContext(source);
    return token;
}

std::string ServerOf(const Arguments& arguments, const Process& process) {
    std::string server = arguments.Get("server");
    if (server.empty()) server = VariableOf(process, "KSANA_SERVER");
    return server.empty() ? std::string(kDefaultServer) : server;
}

Result<client::ApiClientOptions> ClientOptionsOf(const Arguments& arguments,
                                                 const Process& process) {
    client::ApiClientOptions options;
    options.server = ServerOf(arguments, process);
    KSANA_TRY(options.token, TokenOf(arguments, process));
    options.ca_file = arguments.Get("ca-file");
    auto timeout = ParseDuration(arguments.Get("timeout"));
    if (!timeout) return std::move(timeout).error().WithContext("--timeout");
    if (*timeout < std::chrono::milliseconds(1) || *timeout > std::chrono::hours(24)) {
        return Error(Code::kInvalidArgument, "--timeout must be from 1ms to 24h");
    }
    options.timeout = *timeout;
    return options;
}

std::vector<OptionSpec> ListOptions() {
    return {{"limit", 'n', "N", "how many at most", "100"},
            {"all", '\0', "", "all of them, up to 100000", ""}};
}

Result<std::size_t> ListLimitOf(const Arguments& arguments) {
    if (arguments.Has("all") && arguments.Given("limit")) {
        return Error(Code::kInvalidArgument, "--all and --limit cannot both be given");
    }
    KSANA_TRY(const int most, arguments.GetNumber("limit", 1, client::kMostListed));
    return arguments.Has("all") ? client::kMostListed : static_cast<std::size_t>(most);
}

}  // namespace ksana::app
