// Replays inputs through the fuzzing entry without libFuzzer: the files of a corpus, then a given number of mutations
// of them from a seeded generator, so that a run can be repeated.
//   fuzz-replay CORPUS MUTATIONS [SEED]
//   fuzz-replay --write-seeds CORPUS
// A failing mutation is left in fuzz-failure.bin. An input that takes over 10 s or 1 GiB fails.
#include "seeds.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;
using Random = std::mt19937_64;

constexpr unsigned kMaxSeconds = 10;
constexpr long kMaxKilobytes = 1 << 20;
constexpr size_t kMaxInputBytes = 1 << 16;

void write(const std::string& path, const void* data, size_t size) {
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

void run(const Input& input) {
    alarm(kMaxSeconds);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    alarm(0);
}

long peak_kilobytes() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

size_t below(Random& random, size_t end) { return random() % end; }

// Records, chunks and most fields start at multiples of 4 or 8: most changes hit one.
size_t place(Random& random, const Input& input, size_t width) {
    const size_t any = below(random, input.size() - width + 1);
    return random() % 4 == 0 ? any : any / width * width;
}

void set_number(Random& random, Input& input) {
    static constexpr uint64_t kTelling[] = {0, 1, 2, 7, 8, 24, 42, 255, 4096, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff,
                                            1ull << 32, 1ull << 63, UINT64_MAX, 0x4b4e4843};
    const size_t width = size_t{1} << below(random, 4);
    if (input.size() < width)
        return;
    const uint64_t value = random() % 3 == 0 ? random() : kTelling[below(random, std::size(kTelling))];
    std::memcpy(input.data() + place(random, input, width), &value, width);
}

void copy_block(Random& random, Input& input, bool insert) {
    const size_t length = 8 * (1 + below(random, 32));
    if (input.size() < length || input.size() + length > kMaxInputBytes)
        return;
    const size_t from = place(random, input, 8) / 8 * 8, to = place(random, input, 8);
    if (from + length > input.size() || to + length > input.size())
        return;
    const Input block(input.begin() + static_cast<ptrdiff_t>(from),
                      input.begin() + static_cast<ptrdiff_t>(from + length));
    if (insert)
        input.insert(input.begin() + static_cast<ptrdiff_t>(to), block.begin(), block.end());
    else
        std::copy(block.begin(), block.end(), input.begin() + static_cast<ptrdiff_t>(to));
}

Input mutate(Random& random, const std::vector<Input>& corpus) {
    Input input = corpus[below(random, corpus.size())];
    for (size_t changes = 1 + below(random, 8); changes > 0 && !input.empty(); --changes) {
        switch (random() % 8) {
        case 0:
            input[below(random, input.size())] ^= static_cast<uint8_t>(1 << random() % 8);
            break;
        case 1:
            copy_block(random, input, true);
            break;
        case 2:
            copy_block(random, input, false);
            break;
        case 3:
            if (random() % 4 == 0)
                input.resize(below(random, input.size() + 1));
            break;
        default:
            set_number(random, input);
        }
    }
    return input;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string(argv[1]) == "--write-seeds") {
        for (const auto& [name, bytes] : plumb::trace::make_seeds())
            write(std::string(argv[2]) + "/" + name, bytes.data(), bytes.size());
        return 0;
    }
    if (argc < 3) {
        std::fprintf(stderr, "usage: fuzz-replay CORPUS MUTATIONS [SEED] | --write-seeds CORPUS\n");
        return 2;
    }
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Input> corpus;
    for (const std::string& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        run(corpus.back());
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "fuzz-replay: no corpus in %s\n", argv[1]);
        return 1;
    }
    const unsigned long mutations = std::strtoul(argv[2], nullptr, 10);
    Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
    for (unsigned long i = 0; i < mutations; ++i) {
        const Input input = mutate(random, corpus);
        write("fuzz-failure.bin", input.data(), input.size());
        run(input);
        if (peak_kilobytes() > kMaxKilobytes) {
            std::fprintf(stderr, "fuzz-replay: mutation %lu took more than %ld KiB\n", i, kMaxKilobytes);
            return 1;
        }
    }
    std::filesystem::remove("fuzz-failure.bin");
    std::printf("%zu inputs and %lu mutations of them, %ld KiB at most\n", corpus.size(), mutations, peak_kilobytes());
    return 0;
}
