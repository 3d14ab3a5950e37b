#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// SHA-256 as 64 hexadecimal digits.
std::string Sha256(std::string_view text);
// HMAC-SHA256 as 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view text);

// Takes as long wherever they differ.
bool SameBytes(std::string_view a, std::string_view b);

// Base64 with the alphabet of URLs, without padding (RFC 4648, 5).
std::string ToBase64Url(std::string_view bytes);
// Nothing for a text that ToBase64Url does not make.
std::optional<std::string> FromBase64Url(std::string_view text);

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
    Mutex mutex_;
    std::string key_ KSANA_GUARDED_BY(mutex_);  // empty: not read yet
};

}  // namespace ksana::api
