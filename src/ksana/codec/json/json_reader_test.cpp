#include "ksana/codec/json/json_reader.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/codec/v1/task_codec.hpp"

namespace ksana::codec {
namespace {

Error FaultsOf(std::string_view text) {
    const auto read = NewTaskFromJson(text);
    EXPECT_FALSE(read);
    return read ? Error() : read.error();
}

std::string WithUnknownMembers(int count) {
    std::string text = R"({"type":"mail")";
    for (int i = 0; i < count; ++i) text += fmt::format(R"(,"unknown{}":0)", i);
    return text + "}";
}

TEST(JsonReaderTest, TellsTheFirstHundredFaultsAndHowManyMoreThereAre) {
    const Error few = FaultsOf(WithUnknownMembers(100));
    EXPECT_EQ(few.problems.size(), 100U);
    EXPECT_EQ(few.problems.back().path, "/unknown99");
    EXPECT_EQ(few.message, "the input has 100 problems");

    const Error many = FaultsOf(WithUnknownMembers(50'000));
    ASSERT_EQ(many.problems.size(), 101U);
    EXPECT_EQ(many.message, "the input has 50000 problems");
    EXPECT_EQ(many.problems.at(99).path, "/unknown99");
    EXPECT_EQ(many.problems.back(), (Problem{"", "and 49900 more problems"}));
    EXPECT_EQ(many.problems.back().code, "more");
}

TEST(JsonReaderTest, CountsTheFaultsOfALongListWithoutKeepingItsItems) {
    std::string items = "0";
    for (int i = 1; i < 5000; ++i) items += ",0";
    const auto read =
        NewTasksFromJson("{\"runs\":[" + items + "]}", {.bytes = 1 << 20, .tasks = 10'000});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "the input has 5000 problems");
    EXPECT_EQ(read.error().problems.size(), 101U);
}

}  // namespace
}  // namespace ksana::codec
