#include "apps/ksana/toolkit/text_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::app {
namespace {

class TextFileTest : public ::testing::Test {
  protected:
    // The compact JSON of a file with this text, or "refused".
    std::string Read(const std::string& text, const std::string& name = "definitions") {
        const std::string path = folder_.File(name);
        std::ofstream(path) << text;
        const auto data = ReadDataFile(path, process_);
        return data ? data->Compact() : "refused";
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    Process process_{clock_, random_, ids_, {}, stdin, stdout, {}};
};

TEST_F(TextFileTest, TheTextTellsWhetherItIsJsonOrToml) {
    EXPECT_EQ(Read(R"({"a": 1})"), R"({"a":1})");
    EXPECT_EQ(Read(R"([{"a": 1}])"), R"([{"a":1}])");
    EXPECT_EQ(Read(R"( ["a"])"), R"(["a"])");
    EXPECT_EQ(Read("[\n  {\"a\": 1}\n]\n"), R"([{"a":1}])") << "as jq prints it";
    EXPECT_EQ(Read("[\n  1,\n  2\n]"), "[1,2]");
    EXPECT_EQ(Read("[ {\"a\": 1} ]"), R"([{"a":1}])");
    EXPECT_EQ(Read("a = 1"), R"({"a":1})");
    EXPECT_EQ(Read("[table]\na = 1"), R"({"table":{"a":1}})");
    EXPECT_EQ(Read("[ table ]\na = 1"), R"({"table":{"a":1}})");
    EXPECT_EQ(Read("[[jobs]]\nid = \"a\""), R"({"jobs":[{"id":"a"}]})");
}

TEST_F(TextFileTest, TheEndingOfTheNameDecides) {
    EXPECT_EQ(Read("a = 1", "a.toml"), R"({"a":1})");
    EXPECT_EQ(Read("a = 1", "a.json"), "refused");
    EXPECT_EQ(Read(R"({"a": 1})", "b.toml"), "refused");
}

}  // namespace
}  // namespace ksana::app
