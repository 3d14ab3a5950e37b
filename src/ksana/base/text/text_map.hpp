#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ksana {

// Texts by name, sorted by it: labels, headers, a selector. A sorted vector, because most are empty
// and there are millions of them: 24 bytes where an empty std::map takes 48. Finding is a binary
// search, adding moves what comes after it.
class TextMap {
  public:
    using Entry = std::pair<std::string, std::string>;
    using const_iterator = std::vector<Entry>::const_iterator;

    TextMap() = default;
    TextMap(std::initializer_list<Entry> entries);  // of equal names the first one stays

    const_iterator begin() const { return entries_.begin(); }
    const_iterator end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }
    void clear() { entries_.clear(); }

    const_iterator find(std::string_view name) const;
    // Made empty where there is none of that name.
    std::string& operator[](std::string_view name);
    // False: the name is there already, and keeps its value.
    bool Add(std::string name, std::string value);

    friend bool operator==(const TextMap&, const TextMap&) = default;

  private:
    const_iterator PlaceOf(std::string_view name) const;

    std::vector<Entry> entries_;
};

}  // namespace ksana
