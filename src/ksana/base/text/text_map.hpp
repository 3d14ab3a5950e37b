#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ksana {

// A map from names to texts, sorted by name: labels, headers, a selector. A sorted vector, because
// there are millions of mostly empty ones: 24 bytes where an empty std::map takes 48. Lookup is a
// binary search, insertion is linear.
class TextMap {
  public:
    using Entry = std::pair<std::string, std::string>;
    using const_iterator = std::vector<Entry>::const_iterator;

    TextMap() = default;
    TextMap(std::initializer_list<Entry> entries);  // of equal names the first one is kept
    // The same of many entries, in n log n: Add and [] move what comes behind.
    static TextMap Of(std::vector<Entry> entries);

    const_iterator begin() const { return entries_.begin(); }
    const_iterator end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }
    void clear() { entries_.clear(); }

    const_iterator find(std::string_view name) const;
    // Inserts an empty text if the name is absent.
    std::string& operator[](std::string_view name);
    // Returns false, without a change, if the name is already present.
    bool Add(std::string name, std::string value);

    friend bool operator==(const TextMap&, const TextMap&) = default;

  private:
    const_iterator PlaceOf(std::string_view name) const;

    std::vector<Entry> entries_;
};

}  // namespace ksana
