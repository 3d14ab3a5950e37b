#include "ksana/base/text/text_map.hpp"

#include <algorithm>

namespace ksana {

TextMap::TextMap(std::initializer_list<Entry> entries) : TextMap(Of(std::vector<Entry>(entries))) {}

TextMap TextMap::Of(std::vector<Entry> entries) {
    std::ranges::stable_sort(entries, {}, &Entry::first);
    const auto rest = std::ranges::unique(entries, {}, &Entry::first);
    entries.erase(rest.begin(), rest.end());
    TextMap map;
    map.entries_ = std::move(entries);
    return map;
}

TextMap::const_iterator TextMap::PlaceOf(std::string_view name) const {
    return std::ranges::lower_bound(entries_, name, {}, &Entry::first);
}

TextMap::const_iterator TextMap::find(std::string_view name) const {
    const auto place = PlaceOf(name);
    return place != end() && place->first == name ? place : end();
}

std::string& TextMap::operator[](std::string_view name) {
    auto place = PlaceOf(name);
    if (place == end() || place->first != name) place = entries_.emplace(place, name, "");
    return entries_[static_cast<std::size_t>(place - begin())].second;
}

bool TextMap::Add(std::string name, std::string value) {
    const auto place = PlaceOf(name);
    if (place != end() && place->first == name) return false;
    entries_.emplace(place, std::move(name), std::move(value));
    return true;
}

}  // namespace ksana
