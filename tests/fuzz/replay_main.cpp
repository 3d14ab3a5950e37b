// Runs a fuzzer's entry point over every file of a corpus folder, its prefixes and 300 mutations of
// it, from a fixed seed. CI uses this instead of libFuzzer.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 300;
constexpr std::size_t kMaxPrefixes = 512;

void Feed(const std::string& text) {
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string Mutate(std::string text, ksana::Random& random) {
    for (std::uint64_t n = 1 + random.Below(4); n > 0; --n) {
        const std::size_t at = text.empty() ? 0 : random.Below(text.size());
        switch (random.Below(4)) {
            case 0:
                text.insert(at, 1, static_cast<char>(random.Below(256)));
                break;
            case 1:
                text.erase(at, 1 + random.Below(4));
                break;
            case 2:
                if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
                break;
            default:
                text.insert(at, text.substr(at, random.Below(16)));
                break;
        }
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    ksana::SeededRandom random(1);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        Feed(text);
        for (std::size_t n = 0; n < std::min(text.size(), kMaxPrefixes); ++n)
            Feed(text.substr(0, n));
        for (int i = 0; i < kMutations; ++i) Feed(Mutate(text, random));
        ++files;
    }
    std::printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
