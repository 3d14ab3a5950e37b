#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::app {

// Exit codes of the command line. A command that fails with an Error uses the exit code of
// base/error/error.cpp.
inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailed = 1;
// The schedule has no further fire: `cron next`, `cron explain`, `job next`.
inline constexpr int kExitNever = 3;
inline constexpr int kExitNotSucceeded = 7;  // the watched run ended without success, or is held
inline constexpr int kExitPending = 8;       // `migrate --status`: migrations are pending
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitInterrupted = 130;

struct OptionSpec {
    std::string_view name;        // "tz", written --tz
    char letter = '\0';           // 'o', written -o; '\0': none
    std::string_view value_name;  // empty: a switch without a value
    std::string_view help;
    std::string_view default_value;              // "": no default
    std::vector<std::string_view> choices = {};  // empty: any text
    bool repeated = false;                       // may be given more than once
};

// The options and words of one invocation, after parsing. Belongs to RunCommandLine and is passed
// to the command by reference. An option that is not in the command's table aborts. Immutable.
class Arguments {
  public:
    struct Value {
        std::string text;                // the last value given, or the default
        std::vector<std::string> given;  // all values given, in order
    };
    using Values = std::map<std::string_view, Value>;

    Arguments(Values values, std::vector<std::string> words)
        : values_(std::move(values)), words_(std::move(words)) {}

    // Returns the last value given, or the option's default.
    const std::string& Get(std::string_view option) const { return Of(option).text; }
    // Returns all values given for a repeated option.
    const std::vector<std::string>& All(std::string_view option) const { return Of(option).given; }
    // Returns whether the option was given, even with an empty value.
    bool Given(std::string_view option) const { return !Of(option).given.empty(); }
    // Returns whether a switch was given, or whether an option has a value that is not empty.
    bool Has(std::string_view option) const { return !Get(option).empty(); }
    // Parses a whole number. kInvalidArgument if it is no number or outside [low, high].
    Result<int> GetNumber(std::string_view option, int low, int high) const;
    const std::vector<std::string>& words() const { return words_; }

  private:
    const Value& Of(std::string_view option) const;

    Values values_;
    std::vector<std::string> words_;
};

// The output of a command: results in `out`, messages for people in `err`. The caller of
// RunCommandLine owns it. One thread.
struct Output {
    std::string out;
    std::string err;
    // Writes both texts to their streams and returns false if `out` could not be written. If empty,
    // the texts stay in `out` and `err`.
    std::function<bool(std::string_view out, std::string_view err)> sink = {};

    // Passes both texts to the sink and clears them, for commands that write as they go. Returns
    // false if the output can no longer be written; the command should then end.
    bool Flush();
};

// Prints the error with all its problems to `err` and returns its exit code.
int Fail(const Error& error, Output& output);

// One row of the command table, from which parsing, help and suggestions are made.
struct Command {
    std::string_view path;       // "cron next"
    std::string_view words;      // "EXPR": the arguments that follow the options
    std::string_view summary;    // one line, without a full stop
    std::string_view details;    // paragraphs for --help
    std::size_t word_count = 0;  // number of required words
    std::vector<OptionSpec> options;
    std::function<int(const Arguments&, Output&)> run;
    std::size_t optional_words = 0;  // number of additional words allowed
    bool asks_server = false;        // takes the options of api_options.hpp as well
};

inline constexpr std::size_t kAnyWords = 10'000;

// Returns the shared options without those that the command has itself under the same name.
std::vector<OptionSpec> SharedOptionsOf(const Command& command);
// Returns the command's own options and, if it asks a server, the shared ones.
std::vector<OptionSpec> OptionsOf(const Command& command);

// Parses the tokens that follow the command's path. "--" ends the options. kInvalidArgument names
// the first mistake.
Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> tokens);

// Runs one invocation and returns its exit code: finds the command, parses its arguments and runs
// it; prints help and usage errors. The shared options may also precede the command, and a noun may
// be written in the plural.
int RunCommandLine(std::span<const Command> commands, std::span<const std::string> tokens,
                   Output& output);

}  // namespace ksana::app
