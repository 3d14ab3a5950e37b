#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace ksana::http_server {

// Received bytes that are not consumed yet. A read writes into the buffer between Prepare and
// Commit; meanwhile the bytes do not move, and Consume is allowed. Owned by a Connection. Not
// thread-safe.
class InputBuffer {
  public:
    static constexpr std::size_t kSmall = 4096;

    std::string_view data() const { return {bytes_.data() + begin_, end_ - begin_}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }

    void Consume(std::size_t count) { begin_ += count; }

    // Returns room for at least `least` bytes. Shrinks an empty buffer that has grown, so that
    // thousands of idle connections are cheap.
    std::span<char> Prepare(std::size_t least) {
        if (empty()) {
            begin_ = end_ = 0;
            if (bytes_.size() > kSmall && least <= kSmall) bytes_ = std::vector<char>(kSmall);
        }
        if (bytes_.size() - end_ < least && begin_ > 0) {
            std::memmove(bytes_.data(), bytes_.data() + begin_, size());
            end_ -= begin_;
            begin_ = 0;
        }
        if (bytes_.size() - end_ < least) bytes_.resize(end_ + least);
        return std::span(bytes_).subspan(end_);
    }
    void Commit(std::size_t count) { end_ += count; }

  private:
    std::vector<char> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace ksana::http_server
