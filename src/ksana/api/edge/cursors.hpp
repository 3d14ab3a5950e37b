#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// Returns the SHA-256 of `text` as 64 hexadecimal digits.
std::string Sha256(std::string_view text);
// Of the parts as one text, without a copy of them.
std::string Sha256(std::span<const std::string_view> parts);
// Returns the HMAC-SHA256 of `text` as 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view text);

// Compares in constant time: texts of equal size take equally long wherever they differ.
bool SameBytes(std::string_view a, std::string_view b);

// Encodes as Base64 with the URL alphabet, without padding (RFC 4648, 5).
std::string ToBase64Url(std::string_view bytes);
// Returns nothing for a text that ToBase64Url does not produce.
std::optional<std::string> FromBase64Url(std::string_view text);

// Signs and checks the list cursors that clients hold. A sealed cursor is opaque, versioned, and
// valid only for the list, filter and order it was made for. The key is drawn when it is first
// needed and kept in the store, so that a cursor stays valid after a restart and on every node.
// Owned by HandlerContext. Errors of the store are returned. Thread-safe.
class Cursors {
  public:
    // `store` and `random` must outlive the object; `random` must be thread-safe.
    Cursors(store::Store& store, Random& random) : store_(store), random_(random) {}

    // Returns the sealed cursor. `scope` names the list, filter and order; `cursor` is the store's
    // cursor and not empty.
    Result<std::string> Seal(std::string_view scope, std::string_view cursor);
    // Returns the store's cursor, or kInvalidArgument for a text that Seal did not make for this
    // scope. An empty text gives an empty cursor.
    Result<std::string> Open(std::string_view scope, std::string_view text);

  private:
    Result<std::string> Key();
    Result<std::string> ReadKey();

    store::Store& store_;
    Random& random_;
    Mutex mutex_;
    std::string key_ KSANA_GUARDED_BY(mutex_);  // empty until it is first read
};

}  // namespace ksana::api
