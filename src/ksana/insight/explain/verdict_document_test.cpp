#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "ksana/insight/explain/explanation.hpp"
#include "ksana/insight/preview/preview.hpp"

namespace ksana::insight {
namespace {

// Every verdict, reason and warning has a line in docs/explain.md.
class VerdictDocument : public ::testing::Test {
  protected:
    void SetUp() override {
        std::ifstream file(KSANA_SOURCE_DIR "/docs/explain.md");
        text_.assign(std::istreambuf_iterator<char>(file), {});
        ASSERT_FALSE(text_.empty());
    }
    template <class E>
    void ExpectLines(std::size_t first) {
        for (std::size_t i = first; i < model::kEnumCount<E>; ++i) {
            const std::string line =
                "\n| `" + std::string(model::NameOf(static_cast<E>(i))) + "` | ";
            EXPECT_NE(text_.find(line), std::string::npos) << line;
        }
    }

    std::string text_;
};

TEST_F(VerdictDocument, TellsEveryWord) {
    ExpectLines<Verdict>(0);
    ExpectLines<Reason>(1);  // without "none"
    ExpectLines<WarningKind>(0);
}

}  // namespace
}  // namespace ksana::insight
