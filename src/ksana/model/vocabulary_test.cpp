#include "ksana/model/vocabulary.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

namespace ksana::model {
namespace {

std::string Words(RunState state, int failures = 0) {
    std::string text;
    for (const Dialect dialect : {Dialect::kTimer, Dialect::kDispatcher, Dialect::kTask,
                                  Dialect::kStudy, Dialect::kLibrary}) {
        text += std::string(WordFor(dialect, state, failures).value_or("-")) + " ";
    }
    return text;
}

// T-02, K-16, N-15, G-03, D-01: the words of each document for the same state.
TEST(WordFor, SpeaksEachDocumentsLanguage) {
    EXPECT_EQ(Words(RunState::kScheduled), "- PENDING New scheduled - ");
    EXPECT_EQ(Words(RunState::kScheduled, 1), "- PENDING Error scheduled - ");
    EXPECT_EQ(Words(RunState::kQueued), "- DISPATCHED New scheduled - ");
    EXPECT_EQ(Words(RunState::kQueued, 2), "- DISPATCHED Error scheduled - ");
    EXPECT_EQ(Words(RunState::kRunning, 2), "- RUNNING Executing running - ");
    EXPECT_EQ(Words(RunState::kCompleting), "success COMPLETED Completed finished - ");
    EXPECT_EQ(Words(RunState::kSucceeded), "success COMPLETED Success finished SUCCESS ");
    EXPECT_EQ(Words(RunState::kFailed), "failed FAILED Failure failed FAILED ");
    EXPECT_EQ(Words(RunState::kTimedOut), "timeout TIMEOUT Failure failed FAILED ");
    EXPECT_EQ(Words(RunState::kCancelled), "failed CANCELLED Cancelled canceled FAILED ");
    EXPECT_EQ(Words(RunState::kSkipped), "skipped SKIPPED - - SKIPPED ");
    EXPECT_EQ(Words(RunState::kMissed), "missed MISSED - - - ");
    EXPECT_EQ(Words(RunState::kHeld), "failed FAILED Pending failed FAILED ");
    EXPECT_EQ(Words(RunState::kResolved), "failed FAILED ManuallyProcessed failed FAILED ");
}

// T-02
TEST(MeaningOf, TellsWhichRunsAWordSpeaksOf) {
    const auto waiting =
        static_cast<RunStates>(SetOf(RunState::kScheduled) | SetOf(RunState::kQueued));
    EXPECT_EQ(MeaningOf(Dialect::kTask, "New"), (WordMeaning{waiting, false}));
    EXPECT_EQ(MeaningOf(Dialect::kTask, "Error"), (WordMeaning{waiting, true}));
    EXPECT_EQ(MeaningOf(Dialect::kTask, "Pending"), (WordMeaning{SetOf(RunState::kHeld), {}}));
    const auto failed =
        static_cast<RunStates>(SetOf(RunState::kFailed) | SetOf(RunState::kTimedOut));
    EXPECT_EQ(MeaningOf(Dialect::kTask, "Failure"), (WordMeaning{failed, {}}));
    EXPECT_FALSE(MeaningOf(Dialect::kTask, "new"));
    EXPECT_FALSE(MeaningOf(Dialect::kTask, ""));
    EXPECT_EQ(
        WordsOf(Dialect::kTask),
        (std::vector<std::string_view>{"New", "Error", "Executing", "Completed", "Pending",
                                       "Success", "Failure", "Cancelled", "ManuallyProcessed"}));
}

}  // namespace
}  // namespace ksana::model
