#include "ksana/server/transfer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/server/open_store.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::server {
namespace {

using Lines = std::vector<std::string>;

void AppendUtf8(std::string& text, std::uint32_t c) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) return put(c);
    if (c < 0x800) {
        put(0xC0U | c >> 6U);
    } else {
        if (c < 0x10000) {
            put(0xE0U | c >> 12U);
        } else {
            put(0xF0U | c >> 18U);
            put(0x80U | (c >> 12U & 0x3FU));
        }
        put(0x80U | (c >> 6U & 0x3FU));
    }
    put(0x80U | (c & 0x3FU));
}

class TransferTest : public ::testing::Test {
  protected:
    std::unique_ptr<store::Store> Open(StoreKind kind, const std::string& name) {
        auto store =
            OpenStore({kind, folder_.File(name)}, {clock_, random_, ids_}, OpenMode::kReadWrite);
        EXPECT_TRUE(store) << store.error().Describe();
        return store ? *std::move(store) : nullptr;
    }

    static Lines Export(store::Store& from) {
        Lines lines;
        const auto counts = ExportRecords(from, {.store = "here"},
                                          [&](std::string_view line) -> Result<void> {
                                              EXPECT_TRUE(line.ends_with('\n'));
                                              lines.emplace_back(line.substr(0, line.size() - 1));
                                              return {};
                                          },
                                          {});
        EXPECT_TRUE(counts) << counts.error().Describe();
        return lines;
    }

    static LineSource SourceOf(const Lines& lines) {
        return [&lines, next = std::size_t{0}](std::string& line) mutable -> Result<bool> {
            if (next == lines.size()) return false;
            line = lines[next++];
            return true;
        };
    }

    static Result<Imported> Import(store::Store& into, const Lines& lines) {
        return ImportRecords(into, SourceOf(lines), {});
    }

    std::string Refusal(const Lines& lines) {
        const auto store = Open(StoreKind::kMemory, "");
        const auto imported = Import(*store, lines);
        EXPECT_FALSE(imported);
        const auto checked = CheckExport(SourceOf(lines), {});
        EXPECT_FALSE(checked);
        if (imported || checked) return "";
        EXPECT_EQ(checked.error().code, imported.error().code);
        EXPECT_TRUE(imported.error().message.starts_with(checked.error().message));
        return imported.error().Describe();
    }

    model::Run MakeRun() {
        model::Run run;
        run.id = ids_.Next();
        run.type = "mail";
        run.payload = R"({"n":1})";
        run.status.ready_at = clock_.Now();
        return run;
    }

    // Adds one record of every kind, and more than a page of runs.
    void Fill(store::Store& store) {
        std::vector<model::Record> records;
        model::Job job;
        job.id = "j1";
        job.name = "Überweisung 转账 🚀";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        job.state.total_runs = 7;
        records.emplace_back(job);
        for (int i = 0; i < 1'200; ++i) records.emplace_back(MakeRun());
        model::Run ended = MakeRun();
        ended.status.state = model::RunState::kSucceeded;
        ended.status.attempt = 2;
        ended.status.finished_at = clock_.Now();
        records.emplace_back(ended);
        records.emplace_back(model::Attempt{.run_id = ended.id, .number = 1, .error = "x"});
        records.emplace_back(model::LedgerEntry{.seq = 1, .job_id = "j1"});
        records.emplace_back(model::AuditEvent{.seq = 1, .action = "created"});
        records.emplace_back(model::Document{.kind = "setting", .key = "k", .body = "1"});
        const auto added = store.records().Add(records);
        ASSERT_TRUE(added) << added.error().Describe();
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
};

// M05: the counts are right, and every line can be read.
TEST_F(TransferTest, AnExportThatWasChangedIsRefused) {
    const auto source = Open(StoreKind::kMemory, "");
    Fill(*source);
    Lines lines = Export(*source);
    std::string& line = lines.at(40);
    line.replace(line.find("mail"), 4, "nail");
    const std::string refusal = Refusal(lines);
    EXPECT_NE(refusal.find("changed or damaged"), std::string::npos) << refusal;
}

TEST_F(TransferTest, AnExportOfAnImportIsTheSame) {
    const auto source = Open(StoreKind::kJson, "from.json");
    Fill(*source);
    const Lines lines = Export(*source);
    ASSERT_EQ(lines.size(), 1'206U + 2U);
    for (const auto& [kind, name] : {std::pair{StoreKind::kMemory, ""},
                                     {StoreKind::kJson, "to.json"},
                                     {StoreKind::kSqlite, "to.db"}}) {
        const auto target = Open(kind, name);
        const auto imported = Import(*target, lines);
        ASSERT_TRUE(imported) << imported.error().Describe();
        EXPECT_EQ(imported->counts, (codec::ExportCounts{1, 1'201, 1, 1, 1, 1}));
        EXPECT_EQ(imported->header.store, "here");
        EXPECT_EQ(Export(*target), lines) << name;
    }
    // The records survive a restart.
    EXPECT_EQ(Export(*Open(StoreKind::kSqlite, "to.db")), lines);
    EXPECT_EQ(Export(*Open(StoreKind::kJson, "to.json")), lines);
}

TEST_F(TransferTest, LargeAndStrangeTextsComeThrough) {
    std::vector<model::Record> records;
    std::string text = "\"";
    const auto keep = [&] {
        model::Run run = MakeRun();
        run.payload = text + "\"";
        records.emplace_back(std::move(run));
        text = "\"";
    };
    for (std::uint32_t c = 0x20; c <= 0x10FFFF; ++c) {
        if (c == '"' || c == '\\' || (c >= 0xD800 && c < 0xE000)) continue;
        AppendUtf8(text, c);
        if (text.size() > 900'000) keep();
    }
    keep();
    text.append((1 << 20) - 2, 'x');
    keep();
    ASSERT_EQ(std::get<model::Run>(records.back()).payload.size(), 1U << 20U);
    model::Run controls = MakeRun();
    for (char c = 1; c < 0x20; ++c) controls.status.last_error += c;
    records.emplace_back(controls);
    const auto source = Open(StoreKind::kSqlite, "from.db");
    ASSERT_TRUE(source->records().Add(records));
    const Lines lines = Export(*source);
    const auto target = Open(StoreKind::kJson, "to.json");
    const auto imported = Import(*target, lines);
    ASSERT_TRUE(imported) << imported.error().Describe();
    EXPECT_EQ(Export(*target), lines);
    for (const auto& record : records) {
        const auto& run = std::get<model::Run>(record);
        EXPECT_TRUE(target->runs().Get(run.id).value().run == run);
    }
}

TEST_F(TransferTest, AnEmptyStoreIsAnExportToo) {
    const auto source = Open(StoreKind::kMemory, "");
    const Lines lines = Export(*source);
    EXPECT_EQ(lines.size(), 2U);
    EXPECT_TRUE(Import(*Open(StoreKind::kMemory, ""), lines));
    EXPECT_TRUE(CheckExport(SourceOf(lines), {}));
}

TEST_F(TransferTest, OnlyAnEmptyStoreIsFilled) {
    const auto source = Open(StoreKind::kMemory, "");
    Fill(*source);
    const Lines lines = Export(*source);
    const auto target = Open(StoreKind::kMemory, "");
    ASSERT_TRUE(Import(*target, lines));
    const auto again = Import(*target, lines);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::kConflict);
    EXPECT_NE(again.error().message.find("1 jobs, 1201 runs"), std::string::npos);
    EXPECT_EQ(Export(*target), lines);
}

TEST_F(TransferTest, ACutOrChangedExportIsRefused) {
    const auto source = Open(StoreKind::kMemory, "");
    Fill(*source);
    const Lines whole = Export(*source);
    const auto has = [](const std::string& text, std::string_view part) {
        return ::testing::AssertionResult(text.find(part) != std::string::npos) << text;
    };

    EXPECT_TRUE(has(Refusal({}), "line 1: this is not an export"));
    EXPECT_TRUE(has(Refusal({whole.begin() + 1, whole.end()}), "line 1: this is not an export"));
    Lines lines = whole;
    lines.pop_back();
    EXPECT_TRUE(has(Refusal(lines), "after 1206 records; the export is cut off"));
    EXPECT_TRUE(has(Refusal(lines), "1000 records were stored before that"));
    lines.back().resize(10);
    EXPECT_TRUE(has(Refusal(lines), "line 1207: "));
    lines = whole;
    lines.erase(lines.begin() + 5);
    EXPECT_TRUE(has(Refusal(lines), "line 1207: the export says 1 jobs, 1201 runs"));
    lines = whole;
    lines.emplace_back("");
    EXPECT_TRUE(has(Refusal(lines), "nothing may follow"));
    lines = whole;
    lines.insert(lines.begin() + 1, R"({"job":{"id":7}})");
    EXPECT_TRUE(has(Refusal(lines), "line 2: the input has 2 problems\n  /job/id"));
    lines = whole;
    lines[0] = R"({"ksana_export":9})";
    EXPECT_TRUE(has(Refusal(lines), "version 9"));
}

// Only the store, not the importer, detects a duplicate record.
TEST_F(TransferTest, ARecordThatStandsTwiceNamesItsLines) {
    const auto source = Open(StoreKind::kMemory, "");
    Fill(*source);
    Lines lines = Export(*source);
    lines.insert(lines.begin() + 700, lines[3]);
    const auto target = Open(StoreKind::kSqlite, "to.db");
    const auto imported = Import(*target, lines);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, Code::kAlreadyExists);
    EXPECT_TRUE(imported.error().message.starts_with("lines 502 to 1001: "))
        << imported.error().message;
    EXPECT_NE(imported.error().message.find("500 records were stored"), std::string::npos);
}

TEST_F(TransferTest, FailuresOfBothEndsAreHandedOn) {
    const auto store = Open(StoreKind::kMemory, "");
    const Error full(Code::kUnavailable, "disk full");
    const auto exported =
        ExportRecords(*store, {}, [&](std::string_view) -> Result<void> { return full; }, {});
    ASSERT_FALSE(exported);
    EXPECT_EQ(exported.error().message, "disk full");
    const auto imported =
        ImportRecords(*store, [&](std::string&) -> Result<bool> { return full; }, {});
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().message, "line 1: disk full");
}

}  // namespace
}  // namespace ksana::server
