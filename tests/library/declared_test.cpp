// Jobs declared with KSANA_JOB: N-01, N-03, N-05. They belong to every scheduler of this program.

#include <filesystem>

#include "library/library_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace std::chrono_literals;

struct TokenService {
    int DeleteExpired() { return ++calls; }
    int calls = 0;
};

struct Mailer {
    virtual ~Mailer() = default;
    virtual void Send() = 0;
};

bool constructor_throws = false;

}  // namespace

class CleanExpiredTokens final : public ksana::JobExecutor {
  public:
    CleanExpiredTokens(TokenService& tokens, ksana::Logger logger, std::shared_ptr<Mailer> mailer,
                       ksana::Context& context)
        : tokens_(tokens), logger_(std::move(logger)), mailer_(std::move(mailer)) {
        if (constructor_throws) throw std::runtime_error("no table");
        if (context.Find<TokenService>() != &tokens) throw std::logic_error("another context");
    }
    ksana::Task<> Run(ksana::JobContext& context) override {
        const int count = tokens_.DeleteExpired();
        co_await context.Sleep(10ms);
        logger_.Info("cleaned", {{"count", count}});
        mailer_->Send();
    }

  private:
    TokenService& tokens_;
    ksana::Logger logger_;
    std::shared_ptr<Mailer> mailer_;
};
KSANA_JOB(CleanExpiredTokens, .id = "clean-expired-tokens", .cron = "0 3 * * *", .lock_ttl = 60s);

class Beat final : public ksana::PlainJob {
  public:
    void Run(ksana::JobContext&) override {}
};
KSANA_JOB(Beat, .id = "beat", .fixed_rate = 200ms, .initial_delay = 50ms,
          .mode = ksana::ExecutionMode::kAllNodes);

namespace app {
class Zoned final : public ksana::PlainJob {
  public:
    void Run(ksana::JobContext&) override {}
};
}  // namespace app
KSANA_JOB(app::Zoned, .id = "zoned", .cron = "0 0 3 * * MON", .enabled = false,
          .zone = "Europe/Paris", .dialect = ksana::CronDialect::kStandard, .timeout = 5s,
          .retry = {.max_retries = 2, .interval = 1s}, .group = "reports",
          .misfire = ksana::Misfire::kRunLatest);

namespace ksana::library {
namespace {

class CountingMailer final : public Mailer {
  public:
    void Send() override { ++sent; }
    int sent = 0;
};

class DeclaredTest : public ::testing::Test {
  protected:
    LogLines log_;
    TokenService tokens_;
    std::shared_ptr<CountingMailer> mailer_ = std::make_shared<CountingMailer>();
    Context context_;
};

TEST_F(DeclaredTest, AClassIsAJob) {  // N-01, N-03
    context_.Bind(tokens_);
    context_.Bind<Mailer>(mailer_);
    testing::TestScheduler test(context_);
    const auto started = test.Start();
    ASSERT_TRUE(started) << started.error().Describe();
    test.Advance(4h);
    EXPECT_EQ(tokens_.calls, 1);
    EXPECT_EQ(mailer_->sent, 1);
    EXPECT_EQ(log_.With({"cleaned", "logger=CleanExpiredTokens", "count=1"}).size(), 1U);
    EXPECT_EQ(test.StatusOf("beat")->run_count, 4 * 3600 * 5);
    const JobStatus clean = *test.StatusOf("clean-expired-tokens");
    EXPECT_EQ(clean.mode, ExecutionMode::kSingleNode) << "the default";
    EXPECT_TRUE(clean.enabled);
    const JobStatus zoned = *test.StatusOf("zoned");
    EXPECT_FALSE(zoned.enabled);
    EXPECT_EQ(zoned.group, "reports");
    EXPECT_EQ(zoned.schedule.zone, "Europe/Paris");
    EXPECT_EQ(test.scheduler().Remove("beat").error().code, Code::kConflict);
}

TEST_F(DeclaredTest, MissingArgumentsAreAllNamed) {  // N-01
    testing::TestScheduler test(context_);
    const auto started = test.Start();
    ASSERT_FALSE(started);
    const std::string text = started.error().Describe();
    EXPECT_NE(text.find("clean-expired-tokens: its constructor needs a (anonymous "
                        "namespace)::TokenService"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("Mailer"), std::string::npos) << text;
    context_.Bind(tokens_);
    context_.Bind<Mailer>(mailer_);
    EXPECT_TRUE(test.Start()) << "the same scheduler, with what was missing";
}

TEST_F(DeclaredTest, AConstructorMayThrow) {
    context_.Bind(tokens_);
    context_.Bind<Mailer>(mailer_);
    testing::TestScheduler test(context_);
    constructor_throws = true;
    const auto started = test.Start();
    constructor_throws = false;
    ASSERT_FALSE(started);
    EXPECT_NE(
        started.error().Describe().find("clean-expired-tokens: its constructor threw: no table"),
        std::string::npos)
        << started.error().Describe();
}

// N-05: the linker sees two files of one program; two shared libraries meet here only.
TEST_F(DeclaredTest, TwiceTheSameIdIsRefusedAtTheStart) {
    static constexpr JobDeclaration kTwin{.id = "beat", .fixed_rate = 1s};
    context_.Bind(tokens_);
    context_.Bind<Mailer>(mailer_);
    const detail::Registration twin(kTwin, &detail::MakeJob<Beat>);
    testing::TestScheduler test(context_);
    const auto started = test.Start();
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().Describe().find("beat: is declared twice"), std::string::npos);
}

// N-18: --list shows the jobs, and neither opens the store nor needs the services.
TEST_F(DeclaredTest, ListingStartsNothing) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "app.db";
    std::string store = "sqlite:" + file.string();
    std::string words[] = {"program", "--list", "--store", store};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(RunJobs(4, arguments), 0);
    const std::string shown = ::testing::internal::GetCapturedStdout();
    EXPECT_NE(shown.find("clean-expired-tokens"), std::string::npos) << shown;
    EXPECT_NE(shown.find("every 200ms"), std::string::npos) << shown;
    EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace ksana::library
