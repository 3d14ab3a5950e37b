#include "ksana/store_json/open_json.hpp"

#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/store_json/json_session.hpp"
#include "ksana/store_json/load.hpp"
#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_kit/group_commit.hpp"
#include "ksana/store_memory/memory_reader.hpp"

namespace ksana::store_json {
namespace {

// Writes go through GroupCommit to the writer thread; reads run on the calling thread under the
// shared lock, which waits while a transaction runs and commits. Thread-safe.
class JsonBackend final : public store_kit::Backend {
  public:
    JsonBackend(const JsonOptions& options, store_kit::FileLock lock)
        : path_(options.path),
          clock_(options.clock),
          session_(options, std::move(lock), tables_, mutex_),
          commits_("json-writer", session_, changes_) {}

    Result<void> Open(const JsonOptions& options) {
        KSANA_TRY(const Loaded loaded, LoadTables(options));
        KSANA_TRY_VOID(session_.Open(loaded));
        return commits_.Start();
    }

    Result<void> Write(const WriteBody& body) override { return commits_.Run(body); }

    Result<void> Read(const ReadBody& body) override {
        const ReaderLock lock(mutex_);
        store_memory::TableReader<store_kit::Reader> reader(clock_, tables_);
        return body(reader);
    }

    bool WriteFails() override { return commits_.fails(); }
    store::ChangeFeed& changes() override { return changes_; }

    Result<store::StoreInfo> Info() override {
        return store::StoreInfo{.driver = "json", .location = path_};
    }

  private:
    Result<Loaded> LoadTables(const JsonOptions& options) {
        const WriterLock lock(mutex_);
        return Load(options, tables_);
    }

    const std::string path_;
    Clock& clock_;
    SharedMutex mutex_;
    store_memory::Tables tables_ KSANA_GUARDED_BY(mutex_);
    store::ChangeFeed changes_;
    JsonSession session_;
    store_kit::GroupCommit commits_;  // last, because its thread uses all of the above
};

}  // namespace

Result<std::unique_ptr<store_kit::Backend>> OpenJson(const JsonOptions& given) {
    JsonOptions options = given;
    options.path = store_kit::WithoutLink(given.path);
    store_kit::MakeFolderOf(options.path);
    KSANA_TRY(store_kit::FileLock lock,
              store_kit::FileLock::Take(options.path, LogPathOf(options.path)));
    auto backend = std::make_unique<JsonBackend>(options, std::move(lock));
    KSANA_TRY_VOID(backend->Open(options));
    return std::unique_ptr<store_kit::Backend>(std::move(backend));
}

}  // namespace ksana::store_json
