#include "ksana/store_sqlite/job_cache.hpp"

#include "ksana/store_kit/job_definition.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr std::size_t kMaxRecent = 16'384;

}  // namespace

std::shared_ptr<const JobCache::Entry> JobCache::Find(const std::string& id,
                                                      std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (const Entries* entries : {&recent_, &older_}) {
        const auto found = entries->find(id);
        if (found != entries->end() && found->second->text == text) return found->second;
    }
    return nullptr;
}

Result<model::Job> JobCache::Parse(std::string_view id, std::string_view text) {
    const std::string key(id);
    if (const auto known = Find(key, text)) return known->job;
    auto job = store_kit::DefinitionFromText(text);
    if (!job) {
        return Error(Code::kDataLoss, "sqlite: the stored job \"" + key +
                                          "\" cannot be read: " + job.error().Describe());
    }
    auto entry = std::make_shared<const Entry>(Entry{std::string(text), *job});
    const std::lock_guard lock(mutex_);
    if (recent_.size() >= kMaxRecent) {
        older_ = std::move(recent_);
        recent_.clear();
    }
    recent_.insert_or_assign(key, std::move(entry));
    return job;
}

}  // namespace ksana::store_sqlite
