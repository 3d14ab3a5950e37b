#include "ksana/store_sqlite/damage/log_scan.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "ksana/base/process/descriptor.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: words of checksums are big-endian
constexpr std::size_t kLogSumAt = 24;
constexpr std::size_t kFrameSumAt = 16;
constexpr std::size_t kPageSizeAt = 8;
constexpr std::size_t kSummedOfFrameHeader = 8;

using Sum = std::array<std::uint32_t, 2>;

// SQLite's checksum of a log: each goes on from that of what is before.
Sum Add(Sum sum, std::string_view bytes, bool big) {
    constexpr std::size_t kPair = 8;
    const auto word = [&](std::size_t at) {
        if (big) return Big32(bytes, at);
        std::uint32_t number = 0;
        std::memcpy(&number, bytes.data() + at, sizeof(number));
        return number;
    };
    for (std::size_t at = 0; at + kPair <= bytes.size(); at += kPair) {
        sum[0] += word(at) + sum[1];
        sum[1] += word(at + kPair / 2) + sum[0];
    }
    return sum;
}

// Reads a file from its beginning. Owns its descriptor.
class FileReader {
  public:
    explicit FileReader(int descriptor) : file_(descriptor) {}

    // Returns whether `count` more bytes could be read.
    bool Next(std::string& out, std::int64_t count) {
        out.resize(static_cast<std::size_t>(count));
        const ssize_t got = ::pread(file_.number(), out.data(), out.size(), at_);
        at_ += count;
        return got == count;
    }

  private:
    const Descriptor file_;
    std::int64_t at_ = 0;
};

// Goes through the frames of a log whose header is whole.
class FrameScan {
  public:
    FrameScan(LogScan& scan, Sum sum, bool big) : scan_(scan), sum_(sum), big_(big) {}

    void Look(std::string_view frame) {
        ++number_;
        const bool ours = SaltsAt(frame, kFrameSaltAt) == scan_.salts;
        const bool commits = Big32(frame, kFrameCommitAt) != 0;
        if (!broken_) {
            sum_ = Add(sum_, frame.substr(0, kSummedOfFrameHeader), big_);
            sum_ = Add(sum_, frame.substr(kFrameHeaderBytes), big_);
            const Sum told = SaltsAt(frame, kFrameSumAt);
            broken_ = !ours || Big32(frame, 0) == 0 || told != sum_;
        }
        if (!broken_) {
            if (commits) scan_.committed = number_;
            return;
        }
        if (!ours) return;
        if (commit_passed_) scan_.damaged_inside = true;
        commit_passed_ = commit_passed_ || commits;
    }

  private:
    LogScan& scan_;
    Sum sum_;
    const bool big_;
    std::uint32_t number_ = 0;
    bool broken_ = false;
    bool commit_passed_ = false;  // behind the frame that is broken
};

}  // namespace

Result<LogScan> ScanLog(const std::string& database_path) {
    LogScan scan;
    const std::string path = database_path + "-wal";
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT) return scan;
    if (descriptor < 0) {
        return Error(Code::kUnavailable, fmt::format("cannot open {}: {}", path,
                                                     std::generic_category().message(errno)));
    }
    FileReader file(descriptor);
    std::string bytes;
    if (!file.Next(bytes, kLogHeaderBytes)) return scan;
    const bool big = (Big32(bytes, 0) & 1) != 0;
    const Sum sum = Add({}, std::string_view(bytes).substr(0, kLogSumAt), big);
    scan.valid = (Big32(bytes, 0) & ~1U) == kMagic && SaltsAt(bytes, kLogSumAt) == sum &&
                 Big32(bytes, kPageSizeAt) == kPageBytes;
    if (!scan.valid) return scan;
    scan.salts = SaltsAt(bytes, kLogSaltAt);
    FrameScan frames(scan, sum, big);
    while (file.Next(bytes, kFrameBytes)) frames.Look(bytes);
    return scan;
}

}  // namespace ksana::store_sqlite
