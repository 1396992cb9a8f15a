// Replays inputs through fuzz targets without libFuzzer: the files of a corpus and the target's own seeds, then a given number
// of mutations of them from a seeded generator, so that a run can be repeated.
//   fuzz-replay TARGET CORPUS MUTATIONS [SEED]
//   fuzz-replay --list | --write-seeds TARGET FOLDER | --parts ELF-FILE OUTPUT | --records PROCESS-TRACE NODE-TRACE OUTPUT
// A failing mutation is left in fuzz-failure-TARGET.bin. An input that takes over 10 s or 1 GiB fails.
#include "elf_parts.h"
#include "feed.h"
#include "records.h"
#include "target.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak)); // null without a sanitizer

namespace {

using plumb::fuzz::Target;

constexpr Target kTargets[] = {
#define X(name, what) {#name, what, plumb::fuzz::run_##name, plumb::fuzz::seeds_of_##name},
#include "targets.def"
#undef X
};

using Input = std::vector<uint8_t>;
using Random = std::mt19937_64;

constexpr unsigned kMaxSeconds = 10;
constexpr long kMaxKilobytes = 1 << 20;
constexpr size_t kMaxInputBytes = 1 << 16;

void write(const std::string& path, const void* data, size_t size) {
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

Input read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Where the input that is being read is left when it ends the program. Only then: a file for each input would take longer
// than most of them.
struct Current {
    std::string path;
    const Input* input = nullptr;
} current;

void leave_current() {
    const int fd = open(current.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !current.input || ::write(fd, current.input->data(), current.input->size()) < 0)
        return;
    close(fd);
}

void end_by(int signal) {
    leave_current();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void catch_ends() {
    for (const int signal : {SIGABRT, SIGALRM, SIGFPE, SIGILL})
        std::signal(signal, end_by);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(leave_current);
    else
        for (const int signal : {SIGSEGV, SIGBUS})
            std::signal(signal, end_by);
}

void run(const Target& target, const Input& input) {
    current.input = &input;
    alarm(kMaxSeconds);
    target.run(input);
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

const Target* find(const std::string& name) {
    const auto found = std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& each) { return name == each.name; });
    return found == std::end(kTargets) ? nullptr : &*found;
}

std::vector<Input> corpus_of(const Target& target, const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code missing; // a target may have its own seeds alone
    for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Input> corpus;
    for (const std::string& path : paths)
        corpus.push_back(read(path));
    for (const auto& [name, bytes] : target.seeds())
        corpus.emplace_back(bytes.begin(), bytes.end());
    return corpus;
}

int replay(const Target& target, const std::string& folder, unsigned long mutations, uint64_t seed) {
    const std::vector<Input> corpus = corpus_of(target, folder);
    if (corpus.empty()) {
        std::fprintf(stderr, "fuzz-replay: no corpus in %s\n", folder.c_str());
        return 1;
    }
    current.path = std::string("fuzz-failure-") + target.name + ".bin";
    catch_ends();
    Random random(seed);
    for (unsigned long i = 0; i < corpus.size() + mutations; ++i) {
        const Input input = i < corpus.size() ? corpus[i] : mutate(random, corpus);
        run(target, input);
        if (peak_kilobytes() > kMaxKilobytes) {
            leave_current();
            std::fprintf(stderr, "fuzz-replay: input %lu took more than %ld KiB\n", i, kMaxKilobytes);
            return 1;
        }
    }
    std::printf("%s: %zu inputs and %lu mutations of them, %ld KiB at most\n", target.name, corpus.size(), mutations,
                peak_kilobytes());
    return 0;
}

// Real traces become inputs of `reports`.
std::string report_input(const std::string& process, const std::string& node) {
    constexpr size_t kMost = 24 << 10;
    const Input inside = read(process), outside = read(node);
    const std::string shim = plumb::fuzz::records_of_trace(std::as_bytes(std::span(inside)), kMost);
    const std::string recorder = plumb::fuzz::records_of_trace(std::as_bytes(std::span(outside)), kMost);
    const size_t all = shim.size() + recorder.size();
    return plumb::fuzz::Food().number(static_cast<uint8_t>((shim.size() * 0x7f + all - 1) / all)).bytes(shim).bytes(recorder);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 1 && words[0] == "--list") {
        for (const Target& target : kTargets)
            std::printf("%-16s %s\n", target.name, target.what);
        return 0;
    }
    if (words.size() == 3 && words[0] == "--parts") {
        const std::string parts = plumb::fuzz::parts_of_elf(read(words[1]));
        write(words[2], parts.data(), parts.size());
        return 0;
    }
    if (words.size() == 4 && words[0] == "--records") {
        const std::string input = report_input(words[1], words[2]);
        write(words[3], input.data(), input.size());
        return 0;
    }
    if (words.size() == 3 && words[0] == "--write-seeds")
        if (const Target* target = find(words[1])) {
            for (const auto& [name, bytes] : target->seeds())
                write(words[2] + "/" + name, bytes.data(), bytes.size());
            return 0;
        }
    const Target* target = words.size() >= 3 ? find(words[0]) : nullptr;
    if (!target) {
        std::fprintf(stderr, "usage: fuzz-replay TARGET CORPUS MUTATIONS [SEED] | --list | --write-seeds TARGET FOLDER | --parts "
                             "ELF-FILE OUTPUT | --records PROCESS-TRACE NODE-TRACE OUTPUT\n");
        return 2;
    }
    return replay(*target, words[1], std::stoul(words[2]), words.size() > 3 ? std::stoull(words[3]) : 1);
}
