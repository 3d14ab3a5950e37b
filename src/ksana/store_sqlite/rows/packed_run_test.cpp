#include "ksana/store_sqlite/rows/packed_run.hpp"

#include <gtest/gtest.h>

#include "support/fill.hpp"

namespace ksana::store_sqlite {
namespace {

struct Packed {
    std::string fixed;
    std::string status;
};

Packed Pack(const model::Run& run, bool payload_outside) {
    Packed packed;
    PackFixed(run, 7, payload_outside, packed.fixed);
    PackStatus(run, packed.status);
    return packed;
}

// Returns a run with the fields that have columns, and the policy, which is stored as a number.
model::Run WithColumnsOf(const model::Run& run) {
    model::Run out;
    out.id = run.id;
    out.type = run.type;
    out.job_id = run.job_id;
    out.nominal_at = run.nominal_at;
    out.kind = run.kind;
    out.policy = run.policy;
    out.status.ready_at = run.status.ready_at;
    return out;
}

model::Run RandomRun(Random& random) {
    model::Run run;
    ksana::testing::Filler(random).Fill(run);
    if (random.Below(2) == 0) run.status.exec_id = Uuid{}.ToString();
    return run;
}

TEST(PackedRunTest, EveryFieldComesBack) {
    SeededRandom random(5);
    for (int i = 0; i < 2'000; ++i) {
        const model::Run run = RandomRun(random);
        const bool outside = random.Below(4) == 0;
        Packed packed = Pack(run, outside);
        packed.status.append(random.Below(100), '\0');
        model::Run back = WithColumnsOf(run);
        const auto fixed = UnpackFixed(packed.fixed, back);
        ASSERT_TRUE(fixed) << fixed.error().Describe();
        EXPECT_EQ(fixed->policy, 7);
        EXPECT_EQ(fixed->payload_outside, outside);
        ASSERT_TRUE(UnpackStatus(packed.status, back));
        if (outside) back.payload = run.payload;
        ASSERT_EQ(back, run) << i;
    }
}

// Also when the writer's buffer ends within a text.
TEST(PackedRunTest, LongTextsComeBack) {
    for (std::size_t size = 0; size < 600; ++size) {
        model::Run run;
        run.creator = "ann";
        run.payload = std::string(size, 'p');
        run.status.progress_note = std::string(size, 'n');
        run.status.result = std::string(600 - size, 'r');
        run.status.last_error = "late";
        const Packed packed = Pack(run, false);
        model::Run back;
        ASSERT_TRUE(UnpackFixed(packed.fixed, back)) << size;
        ASSERT_TRUE(UnpackStatus(packed.status, back)) << size;
        ASSERT_EQ(back, run) << size;
    }
}

// An exec_id that only looks like a UUID is unpacked as it was given.
TEST(PackedRunTest, AnyExecIdComesBack) {
    for (const std::string& text :
         {std::string("0190B7C0-0000-7000-8000-00000000000A"),
          std::string("0190b7c0-0000-7000-8000-00000000000a"), std::string("x"), std::string()}) {
        model::Run run;
        run.status.exec_id = text;
        model::Run back;
        ASSERT_TRUE(UnpackStatus(Pack(run, false).status, back));
        EXPECT_EQ(back.status.exec_id, text);
    }
}

// A blob that is cut short, has an extra byte or a flipped bit gives an error or another run, and
// nothing worse.
TEST(PackedRunTest, DamageIsNotReadAsMoreThanItIs) {
    SeededRandom random(6);
    for (int i = 0; i < 200; ++i) {
        const Packed whole = Pack(RandomRun(random), false);
        model::Run back;
        for (std::size_t size = 0; size < whole.fixed.size(); ++size) {
            EXPECT_FALSE(UnpackFixed(std::string_view(whole.fixed).substr(0, size), back));
        }
        EXPECT_FALSE(UnpackFixed(whole.fixed + "x", back));
        EXPECT_FALSE(UnpackStatus(whole.status + "x", back));
        EXPECT_FALSE(UnpackStatus("", back));
        std::string turned = whole.status;
        turned.at(random.Below(turned.size())) ^= static_cast<char>(1U << random.Below(8));
        const auto read = UnpackStatus(turned, back);
        EXPECT_TRUE(read || read.error().code == Code::kDataLoss);
    }
}

}  // namespace
}  // namespace ksana::store_sqlite
