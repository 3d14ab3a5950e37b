#include "ksana/store_sqlite/damage/page_sums.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/crc32c.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::size_t kInBlock = kPageBytes / sizeof(std::uint32_t);
constexpr int kMostTold = 20;

// The beginning of the file; the checksums follow at kPageBytes. In the byte order of the machine,
// as is the rest: the file is of no use elsewhere.
struct Header {
    std::array<char, 16> name{};
    std::uint32_t version = 0;
    std::uint32_t page_bytes = 0;
    LogMark committed;
    LogMark candidate;
    std::uint32_t sum = 0;  // of all before
};
constexpr std::string_view kName = "ksana page sums\n";
constexpr std::uint32_t kVersion = 1;

std::string_view BytesOf(const Header& header) {
    return {static_cast<const char*>(static_cast<const void*>(&header)), sizeof(Header)};
}

std::uint32_t SumOf(const Header& header) {
    return Crc32c(BytesOf(header).substr(0, offsetof(Header, sum)));
}

// Zero means unknown.
std::uint32_t SumOf(std::string_view page) { return std::max(Crc32c(page), 1U); }

bool IsPage(std::int64_t offset, std::string_view bytes) {
    return static_cast<std::int64_t>(bytes.size()) == kPageBytes && offset % kPageBytes == 0;
}

std::size_t PageAt(std::int64_t offset) { return static_cast<std::size_t>(offset / kPageBytes); }

bool PutAll(int descriptor, const void* bytes, std::size_t count, std::int64_t at) {
    return ::pwrite(descriptor, bytes, count, at) == static_cast<ssize_t>(count);
}

// Place of a page or header of the log among its frames.
struct FramePlace {
    bool is_header = false;
    bool is_page = false;
    std::size_t frame = 0;
};

FramePlace PlaceOf(std::int64_t offset, std::size_t count) {
    if (offset < kLogHeaderBytes) return {};
    const std::int64_t inside = (offset - kLogHeaderBytes) % kFrameBytes;
    const auto frame = static_cast<std::size_t>((offset - kLogHeaderBytes) / kFrameBytes);
    return {.is_header = inside == 0 && count == kFrameHeaderBytes,
            .is_page = inside == kFrameHeaderBytes && count == kPageBytes,
            .frame = frame};
}

}  // namespace

PageSums::PageSums(std::string database_path, bool marks)
    : database_path_(std::move(database_path)), marks_(marks) {}

Result<std::unique_ptr<PageSums>> PageSums::Open(const std::string& database_path, bool marks) {
    auto sums = std::make_unique<PageSums>(database_path, marks);
    const std::string path = database_path + "-sums";
    sums->descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
    if (sums->descriptor_ < 0) {
        return Error(Code::kUnavailable, fmt::format("cannot open {}: {}", path,
                                                     std::generic_category().message(errno)));
    }
    KSANA_TRY_VOID(sums->Load());
    return sums;
}

Result<std::unique_ptr<PageSums>> PageSums::Look(const std::string& database_path) {
    auto sums = std::make_unique<PageSums>(database_path, false);
    const std::string path = database_path + "-sums";
    sums->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (sums->descriptor_ < 0) return sums;
    auto loaded = sums->Load();
    ::close(std::exchange(sums->descriptor_, -1));
    KSANA_TRY_VOID(std::move(loaded));
    return sums;
}

// If the close of the last connection was not the last step, the mark stays; the page that it names
// is in the database then.
PageSums::~PageSums() {
    if (descriptor_ < 0) return;
    struct stat facts {};
    if (closes_ && ::stat((database_path_ + "-wal").c_str(), &facts) != 0 && errno == ENOENT) {
        (void)ForgetLog();
    }
    ::close(descriptor_);
}

Result<void> PageSums::Load() {
    Header header;
    struct stat facts {};
    const ssize_t got = ::pread(descriptor_, &header, sizeof(header), 0);
    if (got < 0 || ::fstat(descriptor_, &facts) != 0) {
        return Error(Code::kUnavailable, fmt::format("cannot read {}-sums: {}", database_path_,
                                                     std::generic_category().message(errno)));
    }
    const bool ours = got == static_cast<ssize_t>(sizeof(header)) &&
                      std::string_view(header.name.data(), header.name.size()) == kName &&
                      header.version == kVersion && header.page_bytes == kPageBytes;
    if (!ours && got > 0) {
        return Error(Code::kDataLoss, fmt::format("{}-sums is no file of checksums; `ksana doctor "
                                                  "--store URL --repair` begins a new one",
                                                  database_path_));
    }
    if (header.sum == SumOf(header)) {
        committed_ = header.committed;
        candidate_ = header.candidate;
    }
    const std::int64_t bytes = std::max<std::int64_t>(facts.st_size - kPageBytes, 0);
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
    const std::size_t wanted = sums.size() * sizeof(std::uint32_t);
    std::size_t have = 0;
    while (have < wanted) {
        const ssize_t more =
            ::pread(descriptor_, static_cast<char*>(static_cast<void*>(sums.data())) + have,
                    wanted - have, kPageBytes + static_cast<std::int64_t>(have));
        if (more <= 0) break;
        have += static_cast<std::size_t>(more);
    }
    // The last block is filled with zeros.
    while (!sums.empty() && sums.back() == 0) sums.pop_back();
    pages_.Assign(std::move(sums));
    return {};
}

bool PageSums::WriteHeader() {
    if (descriptor_ < 0 || !saves_) return true;
    Header header{.version = kVersion,
                  .page_bytes = kPageBytes,
                  .committed = committed_,
                  .candidate = candidate_};
    std::memcpy(header.name.data(), kName.data(), kName.size());
    header.sum = SumOf(header);
    return PutAll(descriptor_, &header, sizeof(header), 0);
}

void PageSums::Wrote(std::int64_t offset, std::string_view bytes) {
    if (!IsPage(offset, bytes)) return;
    const std::size_t page = PageAt(offset);
    pages_.Set(page, SumOf(bytes));
    const MutexLock lock(mutex_);
    const std::size_t block = page / kInBlock;
    if (block >= dirty_.size()) dirty_.resize(block + 1);
    dirty_[block] = true;
}

bool PageSums::IsWhole(std::int64_t offset, std::string_view bytes) {
    if (!IsPage(offset, bytes)) return true;
    const std::size_t page = PageAt(offset);
    const std::uint32_t known = pages_.Get(page);
    if (known == 0) {
        if (descriptor_ >= 0) Wrote(offset, bytes);
        return true;
    }
    if (known == SumOf(bytes)) return true;
    Tell(fmt::format("page {} of {} differs from its checksum", page + 1, database_path_));
    return false;
}

bool PageSums::CutOff(std::int64_t offset) {
    if (offset >= database_bytes()) return false;
    Tell(fmt::format("{} was cut: it ends before page {}", database_path_, PageAt(offset) + 1));
    return true;
}

bool PageSums::Cut(std::int64_t bytes) {
    const std::size_t count = PageAt(bytes + kPageBytes - 1);
    if (count >= pages_.size()) return true;
    pages_.Cut(count);
    {
        const MutexLock lock(mutex_);
        dirty_.resize(std::min(dirty_.size(), count / kInBlock + 1));
        if (count / kInBlock >= dirty_.size()) dirty_.resize(count / kInBlock + 1);
        dirty_[count / kInBlock] = true;
    }
    const auto end = static_cast<off_t>(kPageBytes + static_cast<std::int64_t>(count * 4));
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, end) != 0) return false;
    return Save();
}

bool PageSums::BeginSaving() {
    saves_ = true;
    return Save();
}

bool PageSums::Save() {
    if (descriptor_ < 0 || !saves_) return true;
    std::vector<bool> dirty;
    {
        const MutexLock lock(mutex_);
        dirty.swap(dirty_);
    }
    bool well = WriteHeader();
    for (std::size_t block = 0; well && block < dirty.size(); ++block) {
        if (!dirty[block]) continue;
        const auto sums = pages_.Part(block * kInBlock, kInBlock);
        well = PutAll(descriptor_, sums.data(), sums.size() * sizeof(std::uint32_t),
                      kPageBytes * (1 + static_cast<std::int64_t>(block)));
    }
    well = well && ::fdatasync(descriptor_) == 0;
    if (well) return true;
    const MutexLock lock(mutex_);  // again at the next sync
    dirty_.resize(std::max(dirty_.size(), dirty.size()));
    for (std::size_t block = 0; block < dirty.size(); ++block) {
        if (dirty[block]) dirty_[block] = true;
    }
    return false;
}

void PageSums::LogWrote(std::int64_t offset, std::string_view bytes) {
    if (offset == 0 && static_cast<std::int64_t>(bytes.size()) == kLogHeaderBytes) {
        salts_ = SaltsAt(bytes, kLogSaltAt);
        frames_.Cut(0);
        candidate_ = {.salts = salts_, .frames = 1};
        written_ = {};
        (void)WriteHeader();
        return;
    }
    const FramePlace place = PlaceOf(offset, bytes.size());
    if (place.is_page) {
        frames_.Set(place.frame, SumOf(bytes));
    } else if (place.is_header && Big32(bytes, kFrameCommitAt) != 0) {
        written_ = {.salts = salts_,
                    .frames = static_cast<std::uint32_t>(place.frame) + 1,
                    .page = Big32(bytes, 0)};
    }
}

bool PageSums::LogIsWhole(std::int64_t offset, std::string_view bytes) {
    const FramePlace place = PlaceOf(offset, bytes.size());
    if (!place.is_page) return true;
    const std::uint32_t known = frames_.Get(place.frame);
    if (known == 0 || known == SumOf(bytes)) return true;
    Tell(fmt::format("frame {} of {}-wal differs from its checksum", place.frame + 1,
                     database_path_));
    return false;
}

void PageSums::LogSyncs() {
    if (!marks_ || written_.frames == 0) return;
    written_.sum = frames_.Get(written_.frames - 1);
    if (written_ == candidate_) return;
    candidate_ = written_;
    (void)WriteHeader();
}

void PageSums::LogCommitted() {
    if (!marks_ || candidate_ == committed_) return;
    committed_ = candidate_;
    (void)WriteHeader();
}

bool PageSums::ForgetLog() {
    committed_ = candidate_ = written_ = {};
    return Save();
}

bool PageSums::Forget() {
    pages_.Cut(0);
    {
        const MutexLock lock(mutex_);
        dirty_.clear();
    }
    committed_ = candidate_ = written_ = {};
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, kPageBytes) != 0) return false;
    return Save();
}

std::string PageSums::damage() {
    const MutexLock lock(mutex_);
    return damage_;
}

void PageSums::Tell(std::string text) {
    {
        const MutexLock lock(mutex_);
        if (++told_ > kMostTold) return;
        if (damage_.empty()) damage_ = text;
    }
    Log(LogLevel::kError, "sqlite: the database is damaged", {{"what", text}});
}

}  // namespace ksana::store_sqlite
