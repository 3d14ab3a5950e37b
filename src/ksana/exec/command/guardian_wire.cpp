#include "ksana/exec/command/guardian_wire.hpp"

#include <cstring>

namespace ksana::exec {
namespace {

template <class T>
void Put(std::string& packet, const T& value) {
    const std::size_t at = packet.size();
    packet.resize(at + sizeof(value));
    std::memcpy(packet.data() + at, &value, sizeof(value));
}

template <class T>
bool Take(std::string_view& packet, T& value) {
    if (packet.size() < sizeof(value)) return false;
    std::memcpy(&value, packet.data(), sizeof(value));
    packet.remove_prefix(sizeof(value));
    return true;
}

void PutText(std::string& packet, const std::string& text) { packet.append(text).push_back('\0'); }

bool TakeText(std::string_view& packet, std::string& text) {
    const std::size_t end = packet.find('\0');
    if (end == std::string_view::npos) return false;
    text.assign(packet.substr(0, end));
    packet.remove_prefix(end + 1);
    return true;
}

bool TakeTexts(std::string_view& packet, std::uint32_t count, std::vector<std::string>& texts) {
    if (count > packet.size()) return false;  // each takes at least one byte
    texts.resize(count);
    for (std::string& text : texts) {
        if (!TakeText(packet, text)) return false;
    }
    return true;
}

AskHeader HeaderOf(const Ask& ask) {
    AskHeader header{.kind = ask.kind, .signal = ask.signal, .id = ask.id};
    const SpawnSpec& spec = ask.spec;
    if (spec.user) {
        header.switch_user = 1;
        header.uid = spec.user->uid;
        header.gid = spec.user->gid;
        header.group_count = static_cast<std::uint32_t>(spec.user->groups.size());
    }
    header.program_count = static_cast<std::uint32_t>(spec.programs.size());
    header.argument_count = static_cast<std::uint32_t>(spec.arguments.size());
    header.variable_count = static_cast<std::uint32_t>(spec.variables.size());
    for (std::size_t n = 0; n < kLimitCount; ++n) {
        if (!spec.limits.at(n)) continue;
        header.limit_mask |= 1U << n;
        header.limits.at(n) = *spec.limits.at(n);
    }
    return header;
}

bool TakeSpec(std::string_view packet, const AskHeader& header, SpawnSpec& spec) {
    for (std::size_t n = 0; n < kLimitCount; ++n) {
        if ((header.limit_mask >> n & 1U) != 0) spec.limits.at(n) = header.limits.at(n);
    }
    if (header.switch_user != 0) {
        spec.user.emplace();
        spec.user->uid = header.uid;
        spec.user->gid = header.gid;
        for (std::uint32_t n = 0; n < header.group_count; ++n) {
            if (!Take(packet, spec.user->groups.emplace_back())) return false;
        }
    }
    return TakeText(packet, spec.attempt_id) && TakeText(packet, spec.working_directory) &&
           TakeTexts(packet, header.program_count, spec.programs) &&
           TakeTexts(packet, header.argument_count, spec.arguments) &&
           TakeTexts(packet, header.variable_count, spec.variables) && packet.empty();
}

}  // namespace

std::string Encode(const Ask& ask) {
    std::string packet;
    Put(packet, HeaderOf(ask));
    if (ask.kind != AskKind::kSpawn) return packet;
    if (ask.spec.user) {
        for (const std::uint32_t group : ask.spec.user->groups) Put(packet, group);
    }
    PutText(packet, ask.spec.attempt_id);
    PutText(packet, ask.spec.working_directory);
    for (const auto* texts : {&ask.spec.programs, &ask.spec.arguments, &ask.spec.variables}) {
        for (const std::string& text : *texts) PutText(packet, text);
    }
    return packet;
}

std::optional<Ask> DecodeAsk(std::string_view packet) {
    AskHeader header;
    if (!Take(packet, header)) return std::nullopt;
    Ask ask{.kind = header.kind, .signal = header.signal, .id = header.id};
    const bool spawns = ask.kind == AskKind::kSpawn;
    if (spawns && !TakeSpec(packet, header, ask.spec)) return std::nullopt;
    return ask;
}

std::string Encode(const Ending& ending) {
    std::string packet;
    Put(packet, ending);
    return packet;
}

std::optional<Ending> DecodeEnding(std::string_view packet) {
    Ending ending;
    if (packet.size() != sizeof(ending) || !Take(packet, ending)) return std::nullopt;
    return ending;
}

}  // namespace ksana::exec
