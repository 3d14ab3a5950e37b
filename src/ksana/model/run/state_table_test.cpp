#include "ksana/model/run/state_table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ksana::model {
namespace {

std::vector<std::string> Cells(const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
        const auto first = cell.find_first_not_of(" `");
        const auto last = cell.find_last_not_of(" `");
        cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    return cells;
}

// docs/state_machine.md is what people read: its table and the one in the code must be equal.
TEST(StateTable, IsTheOneInTheDocumentation) {
    std::ifstream file(std::string(KSANA_SOURCE_DIR) + "/docs/state_machine.md");
    ASSERT_TRUE(file);
    std::vector<std::string> states;
    std::size_t rows = 0;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("|")) {
            if (rows == kEnumCount<EventKind>) break;
            states.clear();
            continue;
        }
        const auto cells = Cells(line);
        if (cells.at(0) == "event") {
            states.assign(cells.begin() + 1, cells.end());
            continue;
        }
        const auto event = FromName<EventKind>(cells.at(0));
        if (states.empty() || !event) continue;
        ++rows;
        ASSERT_EQ(cells.size(), states.size() + 1) << line;
        for (std::size_t i = 0; i < states.size(); ++i) {
            const auto state = FromName<RunState>(states[i]);
            ASSERT_TRUE(state) << states[i];
            EXPECT_EQ(cells.at(i + 1), TargetsOf(EffectOf(*state, *event)))
                << states[i] << " on " << cells.at(0);
        }
    }
    EXPECT_EQ(rows, kEnumCount<EventKind>) << "every event has its row";
}

TEST(StateTable, FinalStatesRefuseEverything) {
    for (std::size_t s = 0; s < kEnumCount<RunState>; ++s) {
        for (std::size_t e = 0; e < kEnumCount<EventKind>; ++e) {
            if (!IsFinal(static_cast<RunState>(s))) continue;
            EXPECT_EQ(EffectOf(static_cast<RunState>(s), static_cast<EventKind>(e)),
                      Effect::kRefuse);
        }
    }
}

TEST(StateTable, NamesGoBothWays) {
    for (std::size_t s = 0; s < kEnumCount<RunState>; ++s) {
        const auto state = static_cast<RunState>(s);
        EXPECT_EQ(FromName<RunState>(NameOf(state)), state);
    }
    for (std::size_t e = 0; e < kEnumCount<EventKind>; ++e) {
        const auto event = static_cast<EventKind>(e);
        EXPECT_EQ(FromName<EventKind>(NameOf(event)), event);
    }
    EXPECT_FALSE(FromName<RunState>("finished"));
}

}  // namespace
}  // namespace ksana::model
