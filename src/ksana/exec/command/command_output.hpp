#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/engine/dispatch/attempt_news.hpp"

namespace ksana::exec {

// What a command writes: keeps the beginning and the end of it, and makes log lines and progress of
// it. However much comes, memory stays bounded, and what is not kept costs almost no time. Belongs
// to one thread.
class CommandOutput {
  public:
    // Keeps half of `limit` bytes from the beginning and half from the end.
    explicit CommandOutput(std::size_t limit) : half_(limit / 2) {}

    void Add(std::string_view bytes);
    // Takes a last line that has no line break. Call once, after the last Add.
    void End();

    // Returns the news since the last call. Lines "::progress 40 note" are progress; all others are
    // log lines. There is room for 32 KB of them, and 8 KB more after each call; a line says how
    // many bytes had no room.
    engine::AttemptNews TakeNews();
    bool has_news() const { return !news_.empty() || unlogged_ > 0; }

    // Returns what was kept, as harmless text, with a line in place of the part left out.
    std::string Text() const;
    // Returns the end of it, at most `most` bytes, without blanks around it.
    std::string Tail(std::size_t most) const;
    std::uint64_t total() const { return total_; }
    std::uint64_t left_out() const;

  private:
    void Keep(std::string_view bytes);
    std::string Ring() const;
    void TakeLine(std::string_view line);
    bool TakeProgress(std::string_view line);
    void SkipLines(std::string_view bytes);

    const std::size_t half_;
    std::uint64_t total_ = 0;
    std::string head_;
    std::string tail_;  // a ring once it is full
    std::size_t oldest_ = 0;

    std::string partial_;  // a line without its end yet
    engine::AttemptNews news_;
    static constexpr std::size_t kMaxRoom = 32 << 10;
    std::size_t room_ = kMaxRoom;
    std::uint64_t unlogged_ = 0;  // bytes of lines for which there was no room
};

}  // namespace ksana::exec
