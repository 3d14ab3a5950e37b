#include "ksana/codec/records/export_line.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace ksana::codec {
namespace {

TEST(ExportLine, HeaderAndEndComeBack) {
    const ExportHeader header{.at = ParseTime("2026-01-01T00:00:00Z").value(),
                              .store = "sqlite:data/\"k\".db"};
    const std::string first = ExportHeaderToLine(header);
    EXPECT_EQ(first, R"({"ksana_export":1,"at":"2026-01-01T00:00:00Z",)"
                     R"("store":"sqlite:data/\"k\".db"})");
    EXPECT_EQ(ExportHeaderFromLine(first).value(), header);

    const ExportCounts counts{.jobs = 1, .runs = 2, .ledger = 3};
    const std::string last = ExportEndToLine({counts, "00c0ffee"});
    EXPECT_EQ(last, R"({"end":{"jobs":1,"runs":2,"attempts":0,"ledger":3,"events":0,)"
                    R"("documents":0},"sum":"00c0ffee"})");
    const auto end = std::get<ExportEnd>(ExportLineFromText(last).value());
    EXPECT_EQ(end.counts, counts);
    EXPECT_EQ(end.sum, "00c0ffee");
    EXPECT_EQ(counts.Total(), 6);
}

TEST(ExportLine, RecordsAreCountedByTheirKind) {
    ExportCounts counts;
    for (const model::Record& record :
         {model::Record(model::Job{}), model::Record(model::Run{}), model::Record(model::Attempt{}),
          model::Record(model::LedgerEntry{}), model::Record(model::AuditEvent{}),
          model::Record(model::Document{})}) {
        const auto line = ExportLineFromText(RecordToLine(record));
        ASSERT_TRUE(line) << line.error().Describe();
        EXPECT_EQ(std::get<model::Record>(*line), record);
        counts.Count(record);
    }
    EXPECT_EQ(counts, (ExportCounts{1, 1, 1, 1, 1, 1}));
}

TEST(ExportLine, WhatIsNoExportIsRefused) {
    for (const char* line : {"", "{}", "[]", "PK", R"({"job":{"id":"j"}})",
                             R"({"ksana_export":"1"})", R"({"ksana_export":null})"}) {
        const auto header = ExportHeaderFromLine(line);
        ASSERT_FALSE(header) << line;
        EXPECT_NE(header.error().message.find("not an export"), std::string::npos) << line;
    }
    const auto later = ExportHeaderFromLine(R"({"ksana_export":2,"anything":[]})");
    ASSERT_FALSE(later);
    EXPECT_NE(later.error().message.find("version 2"), std::string::npos);
    EXPECT_FALSE(ExportHeaderFromLine(R"({"ksana_export":1,"at":"today","store":""})"));
}

TEST(ExportLine, FaultsNameTheirPlace) {
    const auto missing = ExportLineFromText(R"({"end":{"jobs":1,"runs":"x"}})");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().problems.size(), 5U);
    EXPECT_EQ(missing.error().problems[0].path, "/end/runs");
    EXPECT_FALSE(ExportLineFromText(R"({"end":{},"job":{}})"));
    EXPECT_FALSE(ExportLineFromText("{}"));
    EXPECT_FALSE(ExportLineFromText("7"));
    EXPECT_FALSE(ExportLineFromText(""));
}

}  // namespace
}  // namespace ksana::codec
