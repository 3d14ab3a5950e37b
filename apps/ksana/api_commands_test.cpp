#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "apps/ksana/commands.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "support/raw_server.hpp"

namespace ksana::app {
namespace {

using testing::RawPeer;
using testing::RawServer;

// Tests how answers are shown, with a server that returns canned answers. Real servers are tested
// in tests/cli.
class ApiCommandsTest : public ::testing::Test {
  protected:
    int Run(std::vector<std::string> tokens, const std::string& body, int status = 200) {
        const RawServer server([&](RawPeer& peer) {
            while (const auto request = peer.Read()) {
                asked_ = request->Line();
                peer.Answer(status, body,
                            status == 204 ? "" : "Content-Type: application/json\r\n");
            }
        });
        tokens.insert(tokens.begin(), {"--server", server.Url("")});
        output_ = {};
        return RunCommandLine(AllCommands(process_), tokens, output_);
    }

    SystemClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    Process process_{clock_, random_, ids_, {}, nullptr, nullptr, {}};
    Output output_;
    std::string asked_;
};

constexpr std::string_view kExplanation =
    R"({"job_id":"nightly","asked_at":"2026-01-01T03:00:00Z","now":"2026-01-02T00:00:00Z",)"
    R"("verdict":"missed","text":"It was missed: the server was down.","zone":"Europe/Paris",)"
    R"("fire":{"nominal_at":"2026-01-01T02:00:00Z"},"related":[]})";

TEST_F(ApiCommandsTest, AnExplanationBeginsWithItsSentence) {
    EXPECT_EQ(Run({"job", "explain", "nightly", "--at", "2026-01-01T03:00:00Z"},
                  std::string(kExplanation)),
              0)
        << output_.err;
    EXPECT_EQ(asked_, "GET /api/v1/jobs/nightly/explain?at=2026-01-01T03%3A00%3A00Z HTTP/1.1");
    EXPECT_EQ(output_.out,
              "It was missed: the server was down.\n\n"
              "job_id           nightly\n"
              "asked_at         2026-01-01T03:00:00Z\n"
              "now              2026-01-02T00:00:00Z\n"
              "verdict          missed\n"
              "zone             Europe/Paris\n"
              "fire.nominal_at  2026-01-01T02:00:00Z\n");
    EXPECT_EQ(Run({"job", "explain", "nightly", "-o", "name"}, std::string(kExplanation)), 0);
    EXPECT_EQ(output_.out, "missed\n");
    EXPECT_EQ(asked_, "GET /api/v1/jobs/nightly/explain HTTP/1.1");
    EXPECT_EQ(Run({"job", "explain", "nightly", "-o", "jsonl"}, std::string(kExplanation)), 0);
    EXPECT_EQ(output_.out, std::string(kExplanation) + "\n") << "the API's own shape";
}

TEST_F(ApiCommandsTest, ARunIsDeletedWhereThatIsMeant) {
    EXPECT_EQ(Run({"run", "delete", "r1"}, "", 204), 2);
    EXPECT_EQ(asked_, "") << "nothing was asked of the server";
    EXPECT_NE(output_.err.find("--yes"), std::string::npos) << output_.err;
    EXPECT_EQ(Run({"run", "delete", "r1", "--yes"}, "", 204), 0) << output_.err;
    EXPECT_EQ(asked_, "DELETE /api/v1/runs/r1 HTTP/1.1");
    EXPECT_EQ(output_.out, "deleted r1\n");
}

TEST_F(ApiCommandsTest, NothingFromAServerPaintsTheTerminal) {
    const std::string evil = R"({"items":[{"id":"\u001b[31mx","name":"a\nb"}],"next_cursor":null})";
    for (const std::string_view format : {"table", "wide", "name", "json", "jsonl"}) {
        EXPECT_EQ(Run({"job", "list", "-o", std::string(format)}, evil), 0) << output_.err;
        EXPECT_EQ(output_.out.find('\x1b'), std::string::npos) << format;
    }
    EXPECT_EQ(Run({"job", "get", "x"}, R"({"\u001b[31mx":"\u001b[31my"})"), 0);
    EXPECT_EQ(output_.out, "\\x1b[31mx  \\x1b[31my\n");
}

TEST_F(ApiCommandsTest, HelpKeepsToEightyColumns) {
    for (const Command& command : AllCommands(process_)) {
        std::vector<std::string> tokens{"help"};
        std::istringstream words{std::string(command.path)};
        for (std::string word; words >> word;) tokens.push_back(word);
        output_ = {};
        EXPECT_EQ(RunCommandLine(AllCommands(process_), tokens, output_), 0);
        std::istringstream lines(output_.out);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(TextWidth(line), 80U) << command.path << ": " << line;
        }
    }
}

TEST_F(ApiCommandsTest, ErrorsHaveTheirExitCodes) {
    const auto code = [&](int status) {
        return Run({"job", "get", "x"}, R"({"type":"urn:x","detail":"d","code":"other"})", status);
    };
    EXPECT_EQ(code(400), 2);
    EXPECT_EQ(code(404), 3);
    EXPECT_EQ(code(401), 4);
    EXPECT_EQ(code(403), 4);
    EXPECT_EQ(code(409), 5);
    EXPECT_EQ(code(412), 5);
    EXPECT_EQ(code(429), 6);
    EXPECT_EQ(code(503), 6);
    EXPECT_EQ(code(500), 1);
    EXPECT_EQ(code(504), 124);
}

}  // namespace
}  // namespace ksana::app
