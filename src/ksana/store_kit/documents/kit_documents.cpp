#include "ksana/store_kit/documents/kit_documents.hpp"

#include <fmt/core.h>

#include "ksana/codec/records/document_codec.hpp"

namespace ksana::store_kit {
namespace {

using model::Document;
using model::Lock;
using model::RunType;

// Parses the items of a page; one that cannot be parsed fails the page.
template <class T, class Parse>
Result<store::Page<T>> ParsePage(Result<store::Page<Document>> documents, Parse parse) {
    if (!documents) return std::move(documents).error();
    store::Page<T> page;
    for (const Document& document : documents->items) {
        auto item = parse(document);
        if (!item) return std::move(item).error().WithContext(document.kind + " " + document.key);
        page.items.push_back(*std::move(item));
    }
    page.next = std::move(documents->next);
    return page;
}

Result<RunType> ParseType(const Document& document) {
    return codec::RunTypeFromJson(document.body);
}

Result<Lock> ParseLock(const Document& document) { return codec::LockFromJson(document.body); }

Error LockLost(const std::string& name) {
    return {Code::kLeaseLost, fmt::format("the lock \"{}\" is not held under this fence", name)};
}

// Returns the lock if the owner holds it under this fence.
Result<Lock> HeldLock(const std::optional<Document>& there, const store::LockParams& params,
                      std::int64_t fence, TimePoint now) {
    if (!there) return LockLost(params.name);
    KSANA_TRY(Lock lock, ParseLock(*there));
    const bool held = lock.until && *lock.until > now && lock.owner == params.owner;
    if (!held || lock.fence != fence) return LockLost(params.name);
    return lock;
}

}  // namespace

Result<store::Versioned<RunType>> KitTypes::Put(store::TypeWrite write) {
    const std::string body = codec::RunTypeToJson(write.type);
    KSANA_TRY(const Document written,
              documents_.Put(write.type.code, body, write.expected, {}, write.audit));
    return store::Versioned<RunType>{std::move(write.type), written.version};
}

Result<store::Versioned<RunType>> KitTypes::Get(const std::string& code) {
    KSANA_TRY(const Document document, documents_.Get(code));
    KSANA_TRY(RunType type, ParseType(document));
    return store::Versioned<RunType>{std::move(type), document.version};
}

Result<store::Page<RunType>> KitTypes::List(const store::ListParams& params) {
    return ParsePage<RunType>(documents_.List(params), ParseType);
}

Result<void> KitTypes::Delete(store::DeleteTypeParams params) {
    return documents_.Delete(params.code, params.expected, params.audit);
}

Result<store::LockAnswer> KitLocks::TryAcquire(const store::LockParams& params) {
    store::LockAnswer answer;
    KSANA_TRY_VOID(documents_.Update(
        params.name, params.now,
        [&](const std::optional<Document>& there,
            TimePoint now) -> Result<std::optional<std::string>> {
            answer = {.granted = false, .lock = {.name = params.name}};
            Lock& lock = answer.lock;
            if (there) {
                KSANA_TRY(lock, ParseLock(*there));
            }
            const bool used = params.stamp && lock.stamp && *lock.stamp >= *params.stamp;
            const bool held = lock.until && *lock.until > now && lock.owner != params.owner;
            if (used || held) return std::optional<std::string>();
            answer.granted = true;
            lock.owner = params.owner;
            lock.fence += 1;
            lock.until = now + params.ttl;
            if (params.stamp) lock.stamp = params.stamp;
            return std::optional(codec::LockToJson(lock));
        }));
    return answer;
}

Result<Lock> KitLocks::Renew(const store::LockParams& params, std::int64_t fence) {
    Lock lock;
    KSANA_TRY_VOID(documents_.Update(params.name, params.now,
                                     [&](const std::optional<Document>& there,
                                         TimePoint now) -> Result<std::optional<std::string>> {
                                         KSANA_TRY(lock, HeldLock(there, params, fence, now));
                                         lock.until = std::max(*lock.until, now + params.ttl);
                                         return std::optional(codec::LockToJson(lock));
                                     }));
    return lock;
}

Result<void> KitLocks::Release(const store::LockParams& params, std::int64_t fence) {
    return documents_.Update(params.name, params.now,
                             [&](const std::optional<Document>& there,
                                 TimePoint now) -> Result<std::optional<std::string>> {
                                 KSANA_TRY(Lock lock, HeldLock(there, params, fence, now));
                                 // The row stays, because it holds the fence and the stamp.
                                 lock.owner.clear();
                                 lock.until.reset();
                                 return std::optional(codec::LockToJson(lock));
                             });
}

Result<store::Page<Lock>> KitLocks::List(const store::ListParams& params) {
    return ParsePage<Lock>(documents_.List(params), ParseLock);
}

Result<Document> KitSettings::Put(store::SettingWrite write) {
    return documents_.Put(std::move(write.key), std::move(write.value), write.expected,
                          write.expires_at, write.audit, write.topics);
}

Result<Document> KitSettings::Get(const std::string& key) { return documents_.Get(key); }

Result<store::Page<Document>> KitSettings::List(const store::ListParams& params) {
    return documents_.List(params);
}

Result<void> KitSettings::Delete(const std::string& key, store::ExpectedVersion expected,
                                 const std::optional<model::AuditEvent>& audit) {
    return documents_.Delete(key, expected, audit);
}

Result<std::size_t> KitSettings::PurgeExpired(std::size_t limit) {
    return documents_.PurgeExpired(limit);
}

}  // namespace ksana::store_kit
