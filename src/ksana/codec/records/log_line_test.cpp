#include "ksana/codec/records/log_line.hpp"

#include <gtest/gtest.h>

#include "ksana/codec/records/record_codec.hpp"

namespace ksana::codec {
namespace {

TEST(LogLine, ComesBack) {
    const Drop drop{"document", "a\"b", "\U0001F600"};
    EXPECT_EQ(std::get<Drop>(*LogLineFromText(DropToLine(drop))), drop);
    EXPECT_EQ(std::get<CommitMark>(*LogLineFromText(CommitToLine({INT64_MAX}))).seq, INT64_MAX);
    model::Job job;
    job.id = "j";
    EXPECT_EQ(std::get<model::Record>(*LogLineFromText(RecordToLine(job))), model::Record(job));
}

TEST(LogLine, NamesItsRow) {
    model::Job job{{.id = "j"}};
    EXPECT_EQ(RowOfLine(RecordToLine(job)), R"({"job":{"id":"j")");
    job.name = "another";
    EXPECT_EQ(RowOfLine(RecordToLine(job)), R"({"job":{"id":"j")");
    EXPECT_NE(RowOfLine(RecordToLine(model::Run{})), "");
    EXPECT_EQ(RowOfLine(RecordToLine(model::Job{{.id = "a\"b"}})), "") << "ids need to be read";
    EXPECT_EQ(RowOfLine(RecordToLine(model::Job{{.id = "a\\b"}})), "");
    EXPECT_EQ(RowOfLine(RecordToLine(model::Attempt{})), "") << "a run has many";
    EXPECT_EQ(RowOfLine(DropToLine({"run", "x", ""})), "");
    EXPECT_EQ(RowOfLine(CommitToLine({12})), "");
    EXPECT_EQ(RowOfLine(R"({"job":{"id":"torn)"), "");
}

// A line that is cut off anywhere is refused.
TEST(LogLine, TornLinesAreRefused) {
    for (const std::string& line : {DropToLine({"run", "x", ""}), CommitToLine({12}),
                                    RecordToLine(model::Job{{.id = "j"}})}) {
        for (std::size_t length = 0; length < line.size(); ++length) {
            EXPECT_FALSE(LogLineFromText(line.substr(0, length))) << line.substr(0, length);
        }
    }
    EXPECT_FALSE(LogLineFromText(R"({"commit":1x})"));
    EXPECT_FALSE(LogLineFromText(R"({"drop":{"table":"run"}})"));
}

}  // namespace
}  // namespace ksana::codec
