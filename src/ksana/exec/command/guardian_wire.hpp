#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the executor and its guardian say to each other: one packet of a SOCK_SEQPACKET pair for
// each message. Both ends are the same binary, so structures travel as they are.

namespace ksana::exec {

// The name by which a started copy of this program knows that it is a guardian.
inline constexpr const char* kGuardianName = "ksana-guardian";
// The descriptor of the guardian's end of the socket.
inline constexpr int kGuardianSocket = 3;
// The longest message: what a socket with the usual buffer takes at once.
inline constexpr std::size_t kMaxPacket = 192 << 10;

enum class AskKind : std::uint32_t { kSpawn, kSignal, kPing };

// In the order of CommandLimits.
inline constexpr std::size_t kLimitCount = 6;

struct AskHeader {
    AskKind kind = AskKind::kPing;
    std::int32_t signal = 0;  // of kSignal
    std::uint64_t id = 0;     // of the command
    // Of kSpawn, which carries the descriptor for the output:
    std::uint32_t switch_user = 0;  // 1: set groups, gid and uid
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t group_count = 0;
    std::uint32_t program_count = 0;
    std::uint32_t argument_count = 0;
    std::uint32_t variable_count = 0;
    std::uint32_t limit_mask = 0;
    std::array<std::uint64_t, kLimitCount> limits{};
};

// A command as it is handed to the kernel. No text holds a NUL.
struct SpawnSpec {
    std::string attempt_id;
    std::string working_directory;      // empty: that of the guardian
    std::vector<std::string> programs;  // paths to try in turn
    std::vector<std::string> arguments;
    std::vector<std::string> variables;  // "NAME=value"
    struct User {
        std::uint32_t uid = 0;
        std::uint32_t gid = 0;
        std::vector<std::uint32_t> groups;
    };
    std::optional<User> user;
    std::array<std::optional<std::uint64_t>, kLimitCount> limits;
};

// A message to the guardian. `spec` only for kSpawn.
struct Ask {
    AskKind kind = AskKind::kPing;
    std::int32_t signal = 0;
    std::uint64_t id = 0;
    SpawnSpec spec = {};
};

// What the child did when it failed before the program ran.
enum class SpawnStage : std::int32_t {
    kNone,
    kProcess,
    kSession,
    kOutput,
    kLimits,
    kUser,
    kFolder,
    kProgram
};

// A message from the guardian: a command has ended, or could not be started (stage other than
// kNone). Sent once for each spawn, when none of its processes is left.
struct Ending {
    std::uint64_t id = 0;
    SpawnStage stage = SpawnStage::kNone;
    std::int32_t error = 0;         // errno of a failed start
    std::int32_t status = 0;        // as waitpid gives it
    std::uint32_t signalled = 0;    // 1: it was alive when it was asked to stop
    std::uint32_t left_behind = 0;  // 1: processes that it left behind were killed
    std::uint32_t not_gone = 0;     // 1: some of them could not be killed
    std::int64_t cpu_micros = 0;
    std::int64_t memory_bytes = 0;  // the most that one of its processes had in memory
};

std::string Encode(const Ask& ask);
// Returns nothing for a malformed message.
std::optional<Ask> DecodeAsk(std::string_view packet);

std::string Encode(const Ending& ending);
std::optional<Ending> DecodeEnding(std::string_view packet);

}  // namespace ksana::exec
