#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "ksana/base/random.hpp"
#include "ksana/base/result.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api_v1 {

// Places in lists as clients hold them: opaque, versioned, signed, and good only for the list,
// filter and order they were made for. The key is drawn when the first one is made and kept in the
// store, so that a cursor is good after a restart and on every node. Thread-safe.
class Cursors {
  public:
    // Both must outlive it; `random` is thread-safe.
    Cursors(store::Store& store, Random& random) : store_(store), random_(random) {}

    // `scope`: a text that names list, filter and order. `cursor`: the store's, not empty.
    Result<std::string> Seal(std::string_view scope, std::string_view cursor);
    // kInvalidArgument for anything that Seal has not made for this scope. Empty stays empty.
    Result<std::string> Open(std::string_view scope, std::string_view text);

  private:
    Result<std::string> Key();
    Result<std::string> ReadKey();

    store::Store& store_;
    Random& random_;
    std::mutex mutex_;
    std::string key_;  // guarded by mutex_; empty: not read yet
};

}  // namespace ksana::api_v1
