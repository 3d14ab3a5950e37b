#include "ksana/lock_redis/scripts.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/number_text.hpp"
#include "ksana/lock_redis/wire/connection.hpp"

namespace ksana::lock_redis {
namespace {

// KEYS: the lock (a string, the token of its holder), its state (a hash: fence, stamp). `repeated`
// is "1" if the command was sent before and its answer was lost, else "0".
//
// A script that fails has changed nothing: a key of another type is found before anything is
// written, or what was written is taken back.

// ARGV: token, TTL; for a stamp or a majority also: stamp or "", floor of the fence, repeated.
// A call within a script costs half a microsecond or more, so a free lock is taken with two.
//
// A state that expires or is lost does no harm to the order of fences, as they are microseconds of
// the server's time then, more than there were acquisitions. It must live for its stamp alone: that
// is when its TTL is extended, and by renewals.
//
// Lua computes in floating point. Fences are exact in it; stamps can be any number of 64 bits, so
// those that are equal in floating point are compared as text.
constexpr std::string_view kTry = R"(
local stamp, last, taken = ARGV[3], false, true
if stamp then
  last = redis.call('HGET', KEYS[2], 'stamp')
  if stamp ~= '' and last then
    local a, b, x, y = stamp, last, tonumber(stamp), tonumber(last)
    if x == y then
      if x < 0 then a, b = b, a end
      if #a ~= #b then a, b = #a, #b end
    else
      a, b = x, y
    end
    if not (a > b) then
      local done = ARGV[5] == '1' and stamp == last and redis.call('GET', KEYS[1]) == ARGV[1]
      if not done then return {last} end
    end
  end
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {last} end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  taken = false
end
local fence = redis.pcall('HINCRBY', KEYS[2], 'fence', '1')
if type(fence) ~= 'number' then
  if taken then redis.call('DEL', KEYS[1]) end
  return fence
end
local fresh = fence == 1
if not fresh and not stamp then return fence end
if fresh then
  local now = redis.call('TIME')
  fence = now[1] * 1000000 + now[2]
end
if stamp then fence = math.max(fence, tonumber(ARGV[4])) end
redis.call('HSET', KEYS[2], 'fence', string.format('%.0f', fence))
if stamp and stamp ~= '' then redis.call('HSET', KEYS[2], 'stamp', stamp) end
redis.call('PEXPIRE', KEYS[2], math.max(86400000, 2 * ARGV[2]))
return stamp and {fence, last} or fence
)";
static_assert(lock::kStampMemory == std::chrono::milliseconds(86'400'000));

// ARGV: token, fence, TTL. The state of a lock that is held can expire before it: then
// the token alone decides, and the state is made again.
constexpr std::string_view kRenew = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local fence = redis.call('HGET', KEYS[2], 'fence')
if not fence then
  redis.call('HSET', KEYS[2], 'fence', ARGV[2])
elseif fence ~= ARGV[2] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], math.max(86400000, 2 * ARGV[3]))
return 1
)";

// ARGV: token, fence, repeated. A repeated release that finds the lock free under its own fence has
// freed it the first time; or it had expired, and nobody has taken it since.
constexpr std::string_view kRelease = R"(
local holder = redis.call('GET', KEYS[1])
local fence = redis.call('HGET', KEYS[2], 'fence')
if fence and fence ~= ARGV[2] then return 0 end
if holder == ARGV[1] then return redis.call('DEL', KEYS[1]) end
if ARGV[3] == '1' and not holder and fence then return 1 end
return 0
)";

// ARGV: token, fence, larger fence.
constexpr std::string_view kRaise = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local fence = redis.call('HGET', KEYS[2], 'fence')
if fence ~= ARGV[2] and fence ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[2], 'fence', ARGV[3])
return 1
)";

// ARGV: token, fence, "keep" or the stamp to restore or "" for none.
constexpr std::string_view kUndo = R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('HGET', KEYS[2], 'fence') ~= ARGV[2] then
  return 0
end
redis.call('DEL', KEYS[1])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], 'stamp')
elseif ARGV[3] ~= 'keep' then
  redis.call('HSET', KEYS[2], 'stamp', ARGV[3])
end
return 1
)";

std::string Sha1(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int length = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

}  // namespace

Script::Script(std::string lua) : text(std::move(lua)), sha1(Sha1(text)) {}

std::chrono::milliseconds AppliedTtl(Duration ttl) {
    // The server adds the TTL to its time, and refuses what it cannot count.
    constexpr std::chrono::milliseconds kMost = std::chrono::hours(24 * 365 * 100);
    return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(ttl),
                      std::chrono::milliseconds(1), kMost);
}

std::string StateKey(const std::string& key) {
    // A key that has a hash tag itself keeps it: "{a}b" and "{a}b:state".
    const std::size_t open = key.find('{');
    const std::size_t close = open == std::string::npos ? open : key.find('}', open);
    const bool tagged = close != std::string::npos && close > open + 1;
    return tagged ? key + ":state" : "{" + key + "}:state";
}

Command::Command(const Script& script, const lock::LockRequest& request) : script_(&script) {
    arguments_.reserve(2 * request.key.size() + request.token.size() + 160);
    Add("2");
    Add(request.key);
    Add(StateKey(request.key));
    Add(request.token);
}

void Command::Add(std::string_view argument) {
    AppendWord(arguments_, argument);
    ++words_;
}

void Command::AddNumber(std::int64_t argument) {
    std::string text;
    AppendNumber(text, argument);
    Add(text);
}

void Command::AddFlag() {
    Add("0");
    flagged_ = true;
}

void Command::MarkRepeated() {
    if (flagged_) arguments_[arguments_.size() - 3] = '1';  // before the end of the line
}

std::string Command::Encoded() const {
    std::string out;
    out.reserve(arguments_.size() + 80);
    AppendCount(out, words_ + 2);
    AppendWord(out, by_name_ ? "EVALSHA" : "EVAL");
    AppendWord(out, by_name_ ? script_->sha1 : script_->text);
    return out += arguments_;
}

Command TryCommand(const lock::LockRequest& request, std::int64_t floor) {
    static const Script script{std::string(kTry)};
    Command command(script, request);
    command.AddNumber(AppliedTtl(request.ttl).count());
    if (!request.stamp && floor == 0) return command;
    command.Add(request.stamp ? std::to_string(*request.stamp) : "");
    command.AddNumber(floor);
    command.AddFlag();
    return command;
}

Command RenewCommand(const lock::LockRequest& request, std::int64_t fence) {
    static const Script script{std::string(kRenew)};
    Command command(script, request);
    command.AddNumber(fence);
    command.AddNumber(AppliedTtl(request.ttl).count());
    return command;
}

Command ReleaseCommand(const lock::LockRequest& request, std::int64_t fence) {
    static const Script script{std::string(kRelease)};
    Command command(script, request);
    command.AddNumber(fence);
    command.AddFlag();
    return command;
}

Command RaiseCommand(const lock::LockRequest& request, std::int64_t fence, std::int64_t larger) {
    static const Script script{std::string(kRaise)};
    Command command(script, request);
    command.AddNumber(fence);
    command.AddNumber(larger);
    return command;
}

Command UndoCommand(const lock::LockRequest& request, std::int64_t fence,
                    std::optional<std::int64_t> before) {
    static const Script script{std::string(kUndo)};
    Command command(script, request);
    command.AddNumber(fence);
    const std::string stamp = before ? std::to_string(*before) : "";
    command.Add(request.stamp ? stamp : "keep");
    return command;
}

}  // namespace ksana::lock_redis
