#pragma once

#include "ksana/store/store.hpp"
#include "ksana/store/wrapped/wrapped_runs.hpp"

namespace ksana::store {

// The roles of a wrapped store that deal with documents of all kinds.

template <class Hook>
class WrappedTypes final : public TypeStore {
  public:
    WrappedTypes(TypeStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<Versioned<model::RunType>> Put(TypeWrite write) override {
        return hook_.Call("types.Put", [&] { return inner_.Put(Pass<Hook>(write)); });
    }
    Result<Versioned<model::RunType>> Get(const std::string& code) override {
        return hook_.Call("types.Get", [&] { return inner_.Get(code); });
    }
    Result<Page<model::RunType>> List(const ListParams& params) override {
        return hook_.Call("types.List", [&] { return inner_.List(params); });
    }
    Result<void> Delete(DeleteTypeParams params) override {
        return hook_.Call("types.Delete", [&] { return inner_.Delete(Pass<Hook>(params)); });
    }

  private:
    TypeStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedSettings final : public SettingStore {
  public:
    WrappedSettings(SettingStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<model::Document> Put(SettingWrite write) override {
        return hook_.Call("settings.Put", [&] { return inner_.Put(Pass<Hook>(write)); });
    }
    Result<model::Document> Get(const std::string& key) override {
        return hook_.Call("settings.Get", [&] { return inner_.Get(key); });
    }
    Result<Page<model::Document>> List(const ListParams& params) override {
        return hook_.Call("settings.List", [&] { return inner_.List(params); });
    }
    Result<void> Delete(const std::string& key, ExpectedVersion expected,
                        const std::optional<model::AuditEvent>& audit) override {
        return hook_.Call("settings.Delete", [&] { return inner_.Delete(key, expected, audit); });
    }
    Result<std::size_t> PurgeExpired(std::size_t limit) override {
        return hook_.Call("settings.PurgeExpired", [&] { return inner_.PurgeExpired(limit); });
    }

  private:
    SettingStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedEvents final : public EventStore {
  public:
    WrappedEvents(EventStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<void> Append(std::vector<model::AuditEvent> events) override {
        return hook_.Call("events.Append", [&] { return inner_.Append(Pass<Hook>(events)); });
    }
    Result<Page<model::AuditEvent>> List(const EventQuery& query) override {
        return hook_.Call("events.List", [&] { return inner_.List(query); });
    }
    Result<std::size_t> Purge(TimePoint before, std::size_t limit) override {
        return hook_.Call("events.Purge", [&] { return inner_.Purge(before, limit); });
    }

  private:
    EventStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedRecords final : public RecordStore {
  public:
    WrappedRecords(RecordStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<Page<model::Record>> Read(const std::string& cursor, std::size_t limit) override {
        return hook_.Call("records.Read", [&] { return inner_.Read(cursor, limit); });
    }
    Result<void> Add(const std::vector<model::Record>& records) override {
        return hook_.Call("records.Add", [&] { return inner_.Add(records); });
    }
    Result<RecordCounts> Counts() override {
        return hook_.Call("records.Counts", [&] { return inner_.Counts(); });
    }

  private:
    RecordStore& inner_;
    Hook& hook_;
};

}  // namespace ksana::store
