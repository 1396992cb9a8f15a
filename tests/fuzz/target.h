// What a fuzz target is: one parser of bytes that anybody may have written, and valid inputs to begin from. A target runs
// in libFuzzer (fuzz_main.cpp) and, over the corpus and seeded mutations, in the ordinary tests (replay.cpp). It must
// come to the same end for the same bytes, whatever ran before, and abort where an answer is not one that it may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumb::fuzz {

using Bytes = std::span<const uint8_t>;
using Seeds = std::vector<std::pair<std::string, std::string>>; // name, content

struct Target {
    const char* name;
    const char* what;
    void (*run)(Bytes input);
    Seeds (*seeds)();
};

// targets.def lists them; each is defined in the file of targets/ that is named after it.
#define X(name, what) \
    void run_##name(Bytes input); \
    Seeds seeds_of_##name();
#include "targets.def"
#undef X

inline std::string_view as_text(Bytes input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

// Aborts; the sanitizers' and the driver's reports name the line.
inline void require(bool holds) {
    if (!holds)
        std::abort();
}

} // namespace plumb::fuzz
