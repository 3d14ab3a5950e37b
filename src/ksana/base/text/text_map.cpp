#include "ksana/base/text/text_map.hpp"

#include <algorithm>

namespace ksana {

TextMap::TextMap(std::initializer_list<Entry> entries) {
    for (const auto& [name, value] : entries) Add(name, value);
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
