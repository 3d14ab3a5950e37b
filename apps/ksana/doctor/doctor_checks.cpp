#include "apps/ksana/doctor/doctor_checks.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "apps/ksana/store/store_option.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/exec/command/command_cgroups.hpp"
#include "ksana/libcurl/libcurl.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/server/broker_service.hpp"
#include "ksana/server/open_locks.hpp"
#include "ksana/server/open_store.hpp"
#include "ksana/server/settings/token_file.hpp"

namespace ksana::app {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;
using server::StoreKind;

constexpr std::size_t kSyncs = 5;
constexpr Duration kMostSyncing = std::chrono::seconds(3);  // for all writes together

Duration Since(const Process& process, SteadyPoint begin) {
    return std::chrono::duration_cast<Duration>(process.clock.SteadyNow() - begin);
}

std::string Reason(int error) { return std::generic_category().message(error); }

// Returns the nearest existing folder at or above a path.
fs::path ExistingFolder(fs::path path) {
    std::error_code ignored;
    while (!path.empty() && !fs::is_directory(path, ignored)) {
        if (path == path.parent_path()) break;
        path = path.parent_path();
    }
    return path.empty() ? fs::path(".") : path;
}

// Measures several times how long a durable write of a few kilobytes takes.
Result<std::vector<Duration>> MeasureSyncs(const fs::path& folder, const Process& process) {
    std::string name = folder / ".ksana_doctor.XXXXXX";
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) {
        return Error(Code::kPermissionDenied, fmt::format("cannot write: {}", Reason(errno)));
    }
    (void)::unlink(name.c_str());
    const std::array<char, 4096> block{};
    std::vector<Duration> times;
    int error = 0;
    const SteadyPoint begin = process.clock.SteadyNow();
    while (times.size() < kSyncs && Since(process, begin) < kMostSyncing) {
        const SteadyPoint from = process.clock.SteadyNow();
        if (::write(descriptor, block.data(), block.size()) < 0 || ::fsync(descriptor) != 0) {
            error = errno;
            break;
        }
        times.push_back(Since(process, from));
    }
    (void)::close(descriptor);
    if (error != 0) {
        return Error(Code::kInternal, fmt::format("cannot write: {}", Reason(error)));
    }
    return times;
}

Finding FileFinding(std::string check, const std::string& path, bool secret) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || ::access(path.c_str(), R_OK) != 0) {
        return {std::move(check), Level::kFail,
                fmt::format("cannot read {}: {}", Printable(path), Reason(errno)),
                "correct the path in the settings, or the permissions of the file"};
    }
    if (const auto kept = server::CheckSecretFile(path); secret && !kept) {
        return {std::move(check), Level::kFail, Printable(kept.error().message),
                fmt::format("chmod 600 {}", Printable(path))};
    }
    return {std::move(check), Level::kOk, Printable(path), ""};
}

}  // namespace

Finding CheckStore(const server::Settings& settings, const Process& process) {
    const std::string shown = server::ShownUrl(settings.store);
    const SteadyPoint begin = process.clock.SteadyNow();
    const auto status = server::MigrationStatusOf(settings.store, EnvironmentOf(process));
    const std::string took = FormatDuration(
        std::chrono::duration_cast<std::chrono::milliseconds>(Since(process, begin)));
    if (!status && status.error().code == Code::kNotFound) {
        return {"store", Level::kOk, fmt::format("{}: not there yet; the server makes it", shown),
                ""};
    }
    if (!status) {
        return {"store", Level::kFail, fmt::format("{}: {}", shown, status.error().message),
                "look at the setting store: `ksana config show --origin`"};
    }
    if (status->steps.empty()) return {"store", Level::kOk, shown + ": no schema", ""};
    if (status->newest_applied > status->newest_known) {
        return {"store", Level::kFail,
                fmt::format("{}: schema version {}, this program knows up to {}", shown,
                            status->newest_applied, status->newest_known),
                "use a newer program"};
    }
    if (status->Pending()) {
        return {"store", Level::kWarn,
                fmt::format("{}: schema version {}, newest is {}", shown, status->newest_applied,
                            status->newest_known),
                "`ksana migrate`, or start the server, which does the same; make a copy before"};
    }
    return {
        "store", Level::kOk,
        fmt::format("{}: schema version {}, the newest ({})", shown, status->newest_applied, took),
        ""};
}

std::vector<Finding> CheckLocks(const server::Settings& settings, const Process& process) {
    const lock::LockKind kind = settings.lock.kind;
    if (kind == lock::LockKind::kStore || kind == lock::LockKind::kMemory) return {};
    const std::string shown = lock::ShownUrl(settings.lock);
    const auto fault = [&](const Error& error) -> std::vector<Finding> {
        return {{"lock", Level::kFail, fmt::format("{}: {}", shown, error.message),
                 "look at the setting lock: `ksana config show --origin`"}};
    };
    const auto locks = server::OpenLocks(settings.lock, process.clock);
    if (!locks) return fault(locks.error());
    const lock::LockRequest probe{.key = "ksana:lock:doctor",
                                  .token = fmt::format("doctor-{:016x}", process.random.Next()),
                                  .ttl = std::chrono::seconds(2),
                                  .stamp = {}};
    const SteadyPoint begin = process.clock.SteadyNow();
    const auto tried = (*locks)->Try(probe);
    if (!tried) return fault(tried.error());
    if (tried->grant) static_cast<void>((*locks)->Release(probe, tried->grant->fence));
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Since(process, begin));
    return {{"lock", Level::kOk, fmt::format("{}: answers ({})", shown, FormatDuration(took)), ""}};
}

std::vector<Finding> CheckBroker(const server::Settings& settings, const Process& process) {
    if (!settings.broker) return {};
    const std::string shown = settings.broker->name();
    const auto fault = [&](const Error& error) -> std::vector<Finding> {
        return {{"broker", Level::kFail, fmt::format("{}: {}", shown, error.message),
                 "look at the setting broker: `ksana config show --origin`"}};
    };
    const auto broker = server::OpenBroker(settings, process.clock);
    if (!broker) return fault(broker.error());
    const SteadyPoint begin = process.clock.SteadyNow();
    const auto link = (*broker)->Open("ksana doctor");
    if (!link) return fault(link.error());
    const engine::BrokerQueues queues(settings.broker_prefix,
                                      static_cast<std::size_t>(settings.broker_queue_length));
    const std::string status = queues.Status().name;
    const auto state = (*link)->Inspect(status);
    if (!state && state.error().code != Code::kNotFound) return fault(state.error());
    if ((*link)->blocked()) {
        return {{"broker", Level::kWarn, fmt::format("{}: takes no messages", shown),
                 "it is out of memory or disk: `rabbitmq-diagnostics alarms`"}};
    }
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Since(process, begin));
    const std::string queue = state ? fmt::format("{} reports wait in {}", state->messages, status)
                                    : fmt::format("{} is made by the first server", status);
    return {{"broker", Level::kOk,
             fmt::format("{}: answers ({}); {}", shown, FormatDuration(took), queue), ""}};
}

std::vector<Finding> CheckFolder(const server::Settings& settings, const Process& process) {
    const StoreKind kind = settings.store.kind;
    if (kind != StoreKind::kSqlite && kind != StoreKind::kJson) return {};
    const fs::path folder = ExistingFolder(fs::path(settings.store.location).parent_path());
    const std::string shown = Printable(folder.string());
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0) {
        return {{"disk", Level::kFail, fmt::format("{}: {}", shown, Reason(errno)),
                 "correct data_dir or store in the settings"}};
    }
    std::vector<Finding> findings = {
        JudgeDisk({.folder = shown,
                   .free_bytes = static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize,
                   .total_bytes = static_cast<std::uint64_t>(facts.f_blocks) * facts.f_frsize,
                   .free_files = facts.f_favail,
                   .total_files = facts.f_files})};
    const auto times = MeasureSyncs(folder, process);
    if (times) {
        findings.push_back(JudgeSync(shown, *times));
    } else {
        findings.push_back({"fsync", Level::kFail,
                            fmt::format("{}: {}", shown, times.error().message),
                            "let the user of the server write there, or set another data_dir"});
    }
    return findings;
}

Finding CheckDescriptors(const server::Settings& settings) {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return {"descriptors", Level::kWarn, Reason(errno), ""};
    }
    return JudgeDescriptors(limit.rlim_cur, settings.workers);
}

Finding CheckLibraries() {
    if (const auto loaded = libcurl::Load(); !loaded) {
        return {"libcurl", Level::kWarn, loaded.error().message,
                "calls over TLS or to a host by its name, and mails, fail until it is there"};
    }
    return {"libcurl", Level::kOk, libcurl::Api().curl_version_info(CURLVERSION_NOW)->version, ""};
}

Finding CheckZones(const Process& process) {
    schedule::ZoneDatabase zones;
    const bool found = zones.Find("Europe/Paris").has_value();
    return JudgeZones(zones.Version(), found, process.clock.Now());
}

Finding CheckEgress(const server::Settings& settings) {
    std::string found = settings.egress == server::EgressPolicy::kPublic
                            ? "public: jobs call public addresses only"
                            : "default: jobs call anything but link-local and metadata addresses";
    bool everything = false;
    for (const std::string& range : settings.egress_allow) {
        found += fmt::format("{}{}", &range == settings.egress_allow.data() ? "; and " : ", ",
                             Printable(range));
        everything = everything || range.ends_with("/0");
    }
    if (everything) {
        return {"egress", Level::kWarn, std::move(found),
                "name smaller ranges in egress_allow: whoever may make jobs can reach everything "
                "that this machine can"};
    }
    return {"egress", Level::kOk, std::move(found), ""};
}

std::vector<Finding> CheckCommands(const server::Settings& settings) {
    if (!settings.commands) return {};
    const std::string folder = exec::UsableCgroupFolder();
    const std::string how =
        folder.empty() ? "no cgroups can be made here: their processes are found through /proc"
                       : fmt::format("each in a cgroup below {}", Printable(folder));
    if (::geteuid() == 0) {
        return {{"commands", Level::kWarn, fmt::format("run as root; {}", how),
                 "run the server as another user, or name a user in each job"}};
    }
    return {{"commands", Level::kOk, how, ""}};
}

std::vector<Finding> CheckFiles(const server::Settings& settings) {
    std::vector<Finding> findings;
    if (!settings.api_token_file.empty()) {
        Finding finding = FileFinding("token", settings.api_token_file, true);
        if (finding.level != Level::kFail) {
            if (const auto token = server::ReadTokenFile(settings.api_token_file); !token) {
                finding = {"token", Level::kFail, token.error().message,
                           "put a long random token into the first line of the file"};
            }
        }
        findings.push_back(std::move(finding));
    }
    if (!settings.tls_certificate.empty()) {
        findings.push_back(FileFinding("certificate", settings.tls_certificate, false));
        findings.push_back(FileFinding("key", settings.tls_key, true));
    }
    if (!settings.log_file.empty()) {
        const fs::path folder = ExistingFolder(fs::path(settings.log_file).parent_path());
        const bool writable = ::access(folder.c_str(), W_OK) == 0;
        findings.push_back({"log", writable ? Level::kOk : Level::kFail,
                            writable ? Printable(settings.log_file)
                                     : fmt::format("cannot write in {}: {}",
                                                   Printable(folder.string()), Reason(errno)),
                            writable ? "" : "correct log_file, or the permissions of its folder"});
    }
    return findings;
}

Finding ClockCheck::End() const {
    ClockFacts facts;
    facts.now = process_.clock.Now();
    facts.wall_moved = facts.now - wall_;
    facts.steady_moved = Since(process_, steady_);
    struct timex kernel {};  // reads only
    if (const int state = ::adjtimex(&kernel); state >= 0) {
        facts.synchronised = state != TIME_ERROR && (kernel.status & STA_UNSYNC) == 0;
        facts.error = std::chrono::microseconds(kernel.maxerror);
    }
    return JudgeClock(facts);
}

}  // namespace ksana::app
