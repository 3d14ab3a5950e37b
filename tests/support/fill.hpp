#pragma once

#include <array>
#include <boost/pfr.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::testing {

// Fills every member of a plain structure with random values. Boost.PFR finds the members, so a
// member that is added to the model takes part in every round trip at once, and the test fails if a
// codec or a store forgets it. Extreme values are frequent. `random` must outlive the filler. One
// thread.
class Filler {
  public:
    // `bytes`: strings may hold invalid UTF-8.
    explicit Filler(Random& random, bool bytes = false) : random_(random), bytes_(bytes) {}

    void Fill(bool& out) { out = random_.Below(2) == 0; }
    void Fill(std::int32_t& out) { out = Integer<std::int32_t>(); }
    void Fill(std::int64_t& out) { out = Integer<std::int64_t>(); }
    void Fill(double& out) {
        static constexpr std::array<double, 6> kValues = {
            0.25, 0.1, -1.0, 5e-324, 1.7976931348623157e308, 980.9778140020574};
        out = kValues.at(random_.Below(kValues.size()));
    }
    void Fill(model::RunStates& out) {
        out = static_cast<model::RunStates>(random_.Next() & model::kAllStates);
    }
    void Fill(Duration& out) { out = Duration(Integer<std::int64_t>()); }
    void Fill(TimePoint& out) {
        const auto span = static_cast<std::uint64_t>((MaxTime() - MinTime()).count());
        switch (random_.Below(8)) {
            case 0:
                out = MinTime();
                break;
            case 1:
                out = MaxTime();
                break;
            case 2:
                out = TimePoint{};
                break;
            default:
                out = MinTime() + Duration(static_cast<std::int64_t>(random_.Below(span)));
        }
    }
    void Fill(Uuid& out) { random_.Fill(out.bytes); }
    void Fill(std::string& out) {
        // Characters of several planes, every length of UTF-8, and characters that JSON must
        // escape.
        static constexpr std::array<std::string_view, 16> kPieces = {
            "a",  "x y",    "é",      "刹那", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF",
            "\"", "\\",     "/~",     "\n",   "\x01\x1F",         std::string_view("\0", 1),
            "{}", "\u2028", "\uFFFF", "\x7F"};
        static constexpr std::array<std::string_view, 4> kNoUtf8 = {"\xFF", "\xC0\xAF",
                                                                    "\xED\xA0\x80", "\x80"};
        out.clear();
        for (std::uint64_t i = random_.Below(6); i > 0; --i) {
            out += kPieces.at(random_.Below(kPieces.size()));
            if (bytes_ && random_.Below(4) == 0) out += kNoUtf8.at(random_.Below(kNoUtf8.size()));
        }
    }

    template <class E>
    requires std::is_enum_v<E>
    void Fill(E& out) { out = static_cast<E>(random_.Below(model::kEnumCount<E>)); }

    template <class T>
    void Fill(std::optional<T>& out) {
        out.reset();
        if (random_.Below(3) > 0) Fill(out.emplace());
    }
    template <class T>
    void Fill(std::vector<T>& out) {
        out.clear();
        for (std::uint64_t i = random_.Below(4); i > 0; --i) Fill(out.emplace_back());
    }
    void Fill(TextMap& out) {
        out.clear();
        for (std::uint64_t i = random_.Below(4); i > 0; --i) {
            std::string key;
            Fill(key);
            Fill(out[key]);
        }
    }
    template <class... Parts>
    void Fill(std::variant<Parts...>& out) {
        FillOne(out, random_.Below(sizeof...(Parts)), std::index_sequence_for<Parts...>{});
    }
    // Boost.PFR does not see the members of a base class, so a job is filled in two parts.
    void Fill(model::Job& out) {
        Fill(out.definition());
        Fill(out.state);
    }
    template <class T>
    requires std::is_aggregate_v<T>
    void Fill(T& out) {
        boost::pfr::for_each_field(out, [this](auto& member) { Fill(member); });
    }

    // Fills `out` with a value that differs from its current one.
    template <class T>
    void Change(T& out) {
        const T before = out;
        while (out == before) Fill(out);
    }

    // Returns a T in which every member differs from its default.
    template <class T>
    T Populated() {
        if constexpr (std::is_same_v<T, model::Job>) {
            return {Populated<model::JobDefinition>(), Populated<model::JobState>()};
        } else {
            return PopulatedFields<T>();
        }
    }

    // Returns, for each member, a default T with that member changed.
    template <class T>
    std::vector<T> EachMemberChanged() {
        std::vector<T> out;
        if constexpr (std::is_same_v<T, model::Job>) {
            for (auto& definition : EachMemberChanged<model::JobDefinition>()) {
                out.push_back({std::move(definition)});
            }
            for (auto& state : EachMemberChanged<model::JobState>()) {
                out.push_back({{}, std::move(state)});
            }
        } else {
            out.resize(boost::pfr::tuple_size_v<T>);
            ChangeEach(out, std::make_index_sequence<boost::pfr::tuple_size_v<T>>{});
        }
        return out;
    }

  private:
    template <class T>
    T PopulatedFields() {
        T out{};
        boost::pfr::for_each_field(out, [this](auto& member) { Change(member); });
        return out;
    }

    template <class I>
    I Integer() {
        switch (random_.Below(6)) {
            case 0:
                return std::numeric_limits<I>::min();
            case 1:
                return std::numeric_limits<I>::max();
            case 2:
                return static_cast<I>(random_.Below(10));
            default:
                return static_cast<I>(random_.Next() >> random_.Below(64));
        }
    }

    template <class Variant, std::size_t... I>
    void FillOne(Variant& out, std::uint64_t index, std::index_sequence<I...>) {
        ((index == I ? Fill(out.template emplace<I>()) : void()), ...);
    }
    template <class T, std::size_t... I>
    void ChangeEach(std::vector<T>& out, std::index_sequence<I...>) {
        (Change(boost::pfr::get<I>(out[I])), ...);
    }

    Random& random_;
    bool bytes_;
};

}  // namespace ksana::testing
