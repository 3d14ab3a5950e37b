#include "ksana/engine/services/type_cache.hpp"

#include "ksana/store/page.hpp"

namespace ksana::engine {

Result<void> TypeCache::Refresh() {
    const MutexLock refreshing(refreshing_);
    auto types = std::make_shared<Types>();
    store::ListParams params{.prefix = {}, .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(store::Page<model::RunType> page, store_.types().List(params));
        for (model::RunType& type : page.items) {
            std::string code = type.code;
            types->emplace(std::move(code),
                           std::make_shared<const model::RunType>(std::move(type)));
        }
        params.cursor = page.next;
    } while (!params.cursor.empty());
    const MutexLock lock(mutex_);
    types_ = std::move(types);
    return {};
}

std::shared_ptr<const model::RunType> TypeCache::Find(const std::string& code) const {
    std::shared_ptr<const Types> types;
    {
        const MutexLock lock(mutex_);
        types = types_;
    }
    const auto found = types->find(code);
    return found == types->end() ? nullptr : found->second;
}

std::size_t TypeCache::size() const {
    const MutexLock lock(mutex_);
    return types_->size();
}

}  // namespace ksana::engine
