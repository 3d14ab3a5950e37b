#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::app {

// Exit codes of the command line; errors use those of base/error/error.cpp.
inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitNever = 3;
inline constexpr int kExitNotSucceeded = 7;  // the run that was watched
inline constexpr int kExitPending = 8;       // migrate --status
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitInterrupted = 130;

struct OptionSpec {
    std::string_view name;        // "tz", written --tz
    char letter = '\0';           // 'o', written -o; none: '\0'
    std::string_view value_name;  // empty: a switch, without a value
    std::string_view help;
    std::string_view default_value;              // "" where there is none
    std::vector<std::string_view> choices = {};  // empty: any text
    bool repeated = false;                       // may be given more than once
};

// What a command was called with.
class Arguments {
  public:
    struct Value {
        std::string text;                // given last, or the default
        std::vector<std::string> given;  // in their order
    };
    using Values = std::map<std::string_view, Value>;

    Arguments(Values values, std::vector<std::string> words)
        : values_(std::move(values)), words_(std::move(words)) {}

    // The value given, or the option's default. The option must be in the command's table.
    const std::string& Get(std::string_view option) const { return Of(option).text; }
    // All that were given of a repeated option.
    const std::vector<std::string>& All(std::string_view option) const { return Of(option).given; }
    // Whether it was given at all, as a switch or with a value, be it an empty one.
    bool Given(std::string_view option) const { return !Of(option).given.empty(); }
    // Whether a switch was given, or there is a value.
    bool Has(std::string_view option) const { return !Get(option).empty(); }
    // A whole number within bounds.
    Result<int> GetNumber(std::string_view option, int low, int high) const;
    const std::vector<std::string>& words() const { return words_; }

  private:
    const Value& Of(std::string_view option) const;

    Values values_;
    std::vector<std::string> words_;
};

// Where a command writes. Lines of output only on success, messages for people on `err`.
struct Output {
    std::string out;
    std::string err;
    // Takes both texts to where they belong; false: they did not get there. Empty: they stay.
    std::function<bool(std::string_view out, std::string_view err)> sink = {};

    // For commands that write as they go: hands over what there is. False: nobody reads any more,
    // and the command had better end.
    bool Flush();
};

// Says what went wrong, with every problem; the exit code of the error.
int Fail(const Error& error, Output& output);

// One row of the table that parsing, help and suggestions are made from.
struct Command {
    std::string_view path;       // "cron next"
    std::string_view words;      // "EXPR": what follows the options
    std::string_view summary;    // one line, without a full stop
    std::string_view details;    // paragraphs for --help
    std::size_t word_count = 0;  // how many words it needs
    std::vector<OptionSpec> options;
    std::function<int(const Arguments&, Output&)> run;
    std::size_t optional_words = 0;  // how many more it takes
    bool asks_server = false;        // has the options of api_options.hpp, too
};

inline constexpr std::size_t kAnyWords = 10'000;

// The options that the command can be given: its own and those it shares.
std::vector<OptionSpec> OptionsOf(const Command& command);

// Reads what follows the command's own words. "--" ends the options.
Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> tokens);

// Runs one invocation: finds the command, parses, runs; help and mistakes included. The shared
// options may also stand in front of the command; a noun may be said in the plural.
int RunCommandLine(std::span<const Command> commands, std::span<const std::string> tokens,
                   Output& output);

}  // namespace ksana::app
