// The memory that a probe measures with, before and after it moves.
#include "probe/measure/arena.h"

#include "support/memory_units.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

using namespace plumb;
using namespace plumb::probe;

namespace {

constexpr uint64_t kBytes = 4u << 20;

// The lines of the ring, in the order in which they are visited: numbers from the start of the memory.
std::vector<uint64_t> lines_of(const Arena& arena) {
    std::vector<uint64_t> lines;
    void** place = arena.ring_place();
    do {
        lines.push_back(static_cast<uint64_t>(reinterpret_cast<char*>(place) - arena.data()) / kLine);
        place = static_cast<void**>(*place);
    } while (place != arena.ring_place() && lines.size() <= kBytes / kLine);
    return lines;
}

uint64_t pages_in_memory() {
    uint64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident;
}

} // namespace

TEST_CASE("the ring of an arena visits each of its lines once, and goes on in the same order when it moves") {
    Arena arena(kBytes, -1, Pages::small);
    REQUIRE(arena.fill());
    REQUIRE(arena.bytes() == kBytes);
    const std::vector<uint64_t> lines = lines_of(arena);
    CHECK(lines.size() == kBytes / kLine);
    CHECK(std::set(lines.begin(), lines.end()).size() == lines.size());
    CHECK(*std::max_element(lines.begin(), lines.end()) == lines.size() - 1);

    arena.set_ring_place(static_cast<void**>(*arena.ring_place())); // a user went on by one
    std::vector<uint64_t> rest = lines_of(arena);
    const char* const before = arena.data();
    arena.move(0);
    CHECK(arena.data() != before);
    CHECK(lines_of(arena) == rest);
}

TEST_CASE("memory that an arena has left is not taken again while it is kept, and no more of it is kept than was asked for") {
    Arena arena(kBytes, -1, Pages::small);
    REQUIRE(arena.fill());
    std::vector<char*> used{arena.data()};
    const uint64_t pages_before = pages_in_memory();
    for (int i = 0; i < 10; ++i) {
        arena.move(3);
        used.push_back(arena.data());
        const std::set<char*> latest(used.end() - std::min<long>(4, i + 2), used.end());
        CHECK(latest.size() == std::min<size_t>(4, used.size())); // where it is, and the three that it left last
    }
    const double more_arenas = (static_cast<double>(pages_in_memory()) - static_cast<double>(pages_before)) * kPage / kBytes;
    CHECK(more_arenas > 2.5);
    CHECK(more_arenas < 3.5);
}
