#include "apps/ksana/job/command_words.hpp"

#include <fmt/core.h>

namespace ksana::app {
namespace {

// Reads a line from left to right. Lives for one SplitWords.
class WordReader {
  public:
    explicit WordReader(std::string_view line) : line_(line) {}

    Result<std::vector<std::string>> Read() {
        while (at_ < line_.size()) {
            const char c = line_[at_++];
            if (c == ' ' || c == '\t' || c == '\n') {
                EndWord();
            } else if (c == '\'' || c == '"') {
                KSANA_TRY_VOID(ReadQuoted(c));
            } else if (c == '\\') {
                if (at_ == line_.size()) return Unfinished("a backslash at its end");
                Add(line_[at_++]);
            } else {
                Add(c);
            }
        }
        EndWord();
        if (words_.empty()) return Unfinished("no words");
        return std::move(words_);
    }

  private:
    static Error Unfinished(std::string_view what) {
        return {Code::kInvalidArgument, fmt::format("the line has {}", what)};
    }

    void Add(char c) {
        word_ += c;
        begun_ = true;
    }

    void EndWord() {
        if (begun_) words_.push_back(std::move(word_));
        word_.clear();
        begun_ = false;
    }

    // In double quotes a backslash escapes only what is special there.
    Result<void> ReadQuoted(char quote) {
        const std::size_t opened = at_;
        begun_ = true;
        for (; at_ < line_.size(); ++at_) {
            const char c = line_[at_];
            if (c == quote) {
                ++at_;
                return {};
            }
            const bool escapes =
                quote == '"' && c == '\\' && at_ + 1 < line_.size() &&
                std::string_view("$`\"\\").find(line_[at_ + 1]) != std::string_view::npos;
            if (escapes) ++at_;
            word_ += line_[at_];
        }
        return Unfinished(
            fmt::format("a quote ({}) at character {} that is not closed", quote, opened));
    }

    const std::string_view line_;
    std::size_t at_ = 0;
    std::vector<std::string> words_;
    std::string word_;
    bool begun_ = false;
};

}  // namespace

Result<std::vector<std::string>> SplitWords(std::string_view line) {
    return WordReader(line).Read();
}

}  // namespace ksana::app
